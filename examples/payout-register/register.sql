-- The register of payouts: who pays what, so that no payout is sent twice.
--
-- Every workflow that uses the register runs this file in its node "Set up". Its other nodes call one of the functions
-- below each. The file is safe to run again and again, by many at once. It first looks which version the register has,
-- and does nothing if that is its own or a newer one. From then on a role that may only read and write is enough.
-- For PostgreSQL 13 or later.
--
-- Two tables:
--   payout_register  one row for each External ID: what is to be paid, and what became of it.
--   payout_heard     what was heard about a row, and from whom. Nothing in it is ever changed.
--
-- Two facts about a row are kept apart:
--   It has ended: the state is settled or closed. A settled row stays settled. The node "Settled" of a workflow, which
--     does what follows an end, gets it once, at settled_at.
--   It is in doubt: what was heard does not fit the row. The view payout_sentence says how, in sentences that it makes
--     from the row as it is now. Doubt never undoes an end.
--
-- States of a row:
--   due       to be paid. No other state is ever claimed.
--   claimed   a run pays it, or ended before it wrote the outcome.
--   accepted  the service took it.
--   rejected  the service refused it.
--   notSent   it never reached the service, or two lists disagree on it.
--   unknown   it may have been paid, and nobody knows.
--   settled   it was paid, or failed for good.
--   closed    a person closed it.
--   refused   a line of a list that cannot be a payout.
--
-- All of it is one block, which can return early and takes effect as a whole or not at all.
DO $setup$
DECLARE
  -- Raise it with every change of this file: a register of the same version is left as it is.
  this_version CONSTANT integer := 6;
  there_version integer;
BEGIN

-- The version stands in the comment of the table. What the examples of 0.1.0 made has none.
there_version := substring(obj_description(to_regclass('payout_register'), 'pg_class') FROM 'version ([0-9]+)');
IF there_version >= this_version THEN
  RETURN;
END IF;
-- One after the other: two that create a table at once fail. The second one finds it done.
PERFORM pg_advisory_xact_lock(hashtext('payout_register'));
there_version := substring(obj_description(to_regclass('payout_register'), 'pg_class') FROM 'version ([0-9]+)');
IF there_version >= this_version THEN
  RETURN;
END IF;

-------------------------------------------------------------------------------------------------------- The two tables

-- 10.5 and 10.50 are one value. Text that is not a plain number stays as it is.
CREATE OR REPLACE FUNCTION plain_value(p_amount text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(trim_scale(substring(p_amount FROM '^[0-9]{1,20}(?:[.][0-9]{1,20})?$')::numeric)::text, p_amount)
$$;

CREATE TABLE IF NOT EXISTS payout_register (
  external_id text PRIMARY KEY CHECK (external_id <> ''),
  -- As it was written: Pay refuses text that is not a plain number.
  amount text NOT NULL,
  value text NOT NULL GENERATED ALWAYS AS (plain_value(amount)) STORED,
  recipient text NOT NULL,
  key_type text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  -- Only the workflow that added a row pays it: a copy of the workflow may pay from another account.
  workflow_id text NOT NULL,
  state text NOT NULL DEFAULT 'due' CHECK (state IN
    ('due', 'claimed', 'accepted', 'rejected', 'notSent', 'unknown', 'settled', 'closed', 'refused')),
  -- How often it was claimed, and the execution that claimed it last.
  attempts integer NOT NULL DEFAULT 0,
  execution_id text,
  -- The service's own number of the last attempt, from the response to it. Empty: none is kept.
  number text NOT NULL DEFAULT '',
  -- Why it is in its state.
  reason text,
  -- How it ended; the word that said so, such as "confirmed"; and whose word that was.
  ending text CHECK (ending IN ('paid', 'failed')),
  reported text,
  reported_by text CHECK (reported_by IN ('service', 'statement', 'person')),
  -- The sentences that a person was told already.
  told text[] NOT NULL DEFAULT '{}',
  added_at timestamptz DEFAULT now(),
  -- When it became due: when it was added, or when a person last released it.
  due_at timestamptz NOT NULL DEFAULT now(),
  released_at timestamptz,
  first_claimed_at timestamptz,
  -- The last claim.
  claimed_at timestamptz,
  -- When it got the state that it has, unless a claim or an end gave it.
  decided_at timestamptz,
  settled_at timestamptz
);
CREATE INDEX IF NOT EXISTS payout_register_due ON payout_register (due_at) WHERE state = 'due';

CREATE TABLE IF NOT EXISTS payout_heard (
  external_id text NOT NULL REFERENCES payout_register ON DELETE CASCADE,
  -- list: a line of a list asked for the payout, otherwise than the row has it.
  -- call: the same, of a workflow that calls "Pay once".
  -- service: a postback, or a response of the service that was asked.
  -- statement: a line of the service's statement.
  -- person: a person released the row with another amount or recipient. The fact has the ones before.
  -- note: a sentence that the register of 0.1.0 kept.
  source text NOT NULL CHECK (source IN ('list', 'call', 'service', 'statement', 'person', 'note')),
  -- list, call, person, note: empty.
  -- service: paid, failed, or empty for a word that the workflow does not know.
  -- statement: paid, failed, came in, returned; early for what was paid on a day before the row was sent; or against
  --   for a line that speaks against a payment and says nothing where there is none: then word says what it is.
  meaning text NOT NULL DEFAULT '',
  word text NOT NULL DEFAULT '',
  amount text NOT NULL DEFAULT '',
  value text NOT NULL GENERATED ALWAYS AS (plain_value(amount)) STORED,
  recipient text NOT NULL DEFAULT '',
  key_type text NOT NULL DEFAULT '',
  workflow_id text NOT NULL DEFAULT '',
  -- statement: the day of the line.
  day text NOT NULL DEFAULT '',
  -- statement: what tells the line from the others of its day. The service's own number; where the statement has none,
  -- the day and a count, such as "2026-11-30 #2". Money that came back twice under one number has a count behind it.
  number text NOT NULL DEFAULT '',
  -- The row's state and attempts when it was heard.
  state text NOT NULL DEFAULT '',
  attempt integer NOT NULL DEFAULT 0,
  at timestamptz NOT NULL DEFAULT now(),
  -- What was heard before is not written again. A line of a statement that comes again in another word for the same
  -- meaning, or after another try, is the same line. Of another day it is another one: what failed may have failed again.
  fingerprint text NOT NULL GENERATED ALWAYS AS (md5(
    source || E'\n' || meaning || E'\n' || amount || E'\n' || recipient || E'\n' || key_type || E'\n' || workflow_id ||
    E'\n' || number || E'\n' || CASE source WHEN 'statement' THEN day ELSE attempt || E'\n' || word END
  )) STORED,
  PRIMARY KEY (external_id, fingerprint)
);

-------------------------------------------------------------------------------------------------- Registers of 0.1.0

-- Replace all workflows of a register together: those of 0.1.0 ask for columns that are gone then.
-- They kept sentences. A sentence may be untrue by now, so it is kept as a note, and says so where it was not told yet.
IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'payout_register'::regclass AND attname = 'contradicted' AND NOT attisdropped) THEN
  ALTER TABLE payout_register
    ADD COLUMN IF NOT EXISTS reported_by text CHECK (reported_by IN ('service', 'statement', 'person')),
    ADD COLUMN IF NOT EXISTS added_at timestamptz,
    ADD COLUMN IF NOT EXISTS first_claimed_at timestamptz;
  ALTER TABLE payout_register ALTER COLUMN added_at SET DEFAULT now();
  UPDATE payout_register SET
    added_at = least(due_at, claimed_at),
    first_claimed_at = CASE WHEN attempts > 1 THEN least(due_at, claimed_at) ELSE claimed_at END,
    -- Doubt undid an end there: what had run "Settled" and became unknown is settled.
    state = CASE WHEN state = 'unknown' AND settled_at IS NOT NULL THEN 'settled' ELSE state END,
    reported_by = CASE
      WHEN ending IS NULL THEN NULL
      WHEN reported = 'noted by a person' THEN 'person'
      WHEN reason LIKE 'Statement: %' THEN 'statement'
      ELSE 'service'
    END;
  INSERT INTO payout_heard (external_id, source, word)
    SELECT external_id, 'note', sentence FROM payout_register
    CROSS JOIN LATERAL unnest(string_to_array(concat_ws(E'\n', contradicted, differs), E'\n')) AS sentence
    WHERE sentence <> ''
    ON CONFLICT DO NOTHING;
  INSERT INTO payout_heard (external_id, source, word, state, attempt)
    SELECT external_id, 'service', not_understood, state, attempts FROM payout_register WHERE not_understood <> ''
    ON CONFLICT DO NOTHING;
  ALTER TABLE payout_register DROP COLUMN contradicted, DROP COLUMN differs, DROP COLUMN found, DROP COLUMN not_understood;
END IF;

---------------------------------------------------------------------------------------------- Registers of version 2

ALTER TABLE payout_register ADD COLUMN IF NOT EXISTS number text NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS payout_register_number ON payout_register (lower(number));
-- These two had other parameters or gave other columns then.
DROP FUNCTION IF EXISTS write_outcome(text, text, integer, text, text, text);
DROP FUNCTION IF EXISTS payouts_to_ask();

----------------------------------------------------------------------------------------- Registers of version 2 to 4

-- The fingerprint had no day then: of two failures under one number, on two days, one was kept.
IF there_version < 5 THEN
  ALTER TABLE payout_heard DROP COLUMN fingerprint;
  ALTER TABLE payout_heard
    ADD COLUMN fingerprint text NOT NULL GENERATED ALWAYS AS (md5(
      source || E'\n' || meaning || E'\n' || amount || E'\n' || recipient || E'\n' || key_type || E'\n' || workflow_id ||
      E'\n' || number || E'\n' || CASE source WHEN 'statement' THEN day ELSE attempt || E'\n' || word END
    )) STORED,
    ADD PRIMARY KEY (external_id, fingerprint);
  DROP FUNCTION IF EXISTS statement_problems(jsonb, jsonb, text, text, numeric);
  DROP FUNCTION IF EXISTS is_named(text, text);
END IF;

------------------------------------------------------------------------------------------ Adding, claiming, the outcome

-- Adds a line of a list. A line that says otherwise than a known row pays nothing, and is heard.
CREATE OR REPLACE FUNCTION add_payout(p_external_id text, p_amount text, p_recipient text, p_key_type text, p_description text, p_workflow_id text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  known payout_register;
BEGIN
  INSERT INTO payout_register (external_id, amount, recipient, key_type, description, workflow_id)
    VALUES (p_external_id, p_amount, p_recipient, p_key_type, p_description, p_workflow_id)
    ON CONFLICT (external_id) DO NOTHING;
  IF FOUND THEN
    RETURN;
  END IF;
  SELECT * INTO known FROM payout_register WHERE external_id = p_external_id FOR UPDATE;
  IF (known.value, known.recipient, known.key_type, known.workflow_id) = (plain_value(p_amount), p_recipient, p_key_type, p_workflow_id) THEN
    RETURN;
  END IF;
  INSERT INTO payout_heard (external_id, source, amount, recipient, key_type, workflow_id)
    VALUES (p_external_id, 'list', p_amount, p_recipient, p_key_type, p_workflow_id)
    ON CONFLICT DO NOTHING;
  -- Nobody has paid either line yet, so a person says which one is right. A row that a person released stays due.
  IF known.state = 'due' AND known.attempts = 0 AND known.released_at IS NULL THEN
    UPDATE payout_register SET state = 'notSent', reason = 'Two lines of lists disagree about it', decided_at = now()
      WHERE external_id = p_external_id;
  END IF;
END $$;

-- Notes a line that cannot be a payout. It has no identifier to pay under, so it gets one of its own.
CREATE OR REPLACE FUNCTION add_refused_line(p_line text, p_workflow_id text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, reason)
  VALUES ('refused line ' || left(md5(p_line), 12), '', '', p_workflow_id, 'refused',
    'Not a payout: the identifier must be text or a whole number, without control characters and characters that nobody can see, and there must be a recipient. The line: ' || p_line)
  ON CONFLICT (external_id) DO NOTHING
$$;

-- Claims the next five due rows of a workflow. A row that another run is just claiming is skipped.
CREATE OR REPLACE FUNCTION claim_payouts(p_execution_id text, p_workflow_id text)
RETURNS SETOF payout_register LANGUAGE sql AS $$
  -- Materialized: the five are chosen and locked once.
  WITH next AS MATERIALIZED (
    SELECT external_id FROM payout_register
    WHERE state = 'due' AND workflow_id = p_workflow_id
    ORDER BY due_at, external_id LIMIT 5
    FOR UPDATE SKIP LOCKED
  )
  UPDATE payout_register AS payout SET
    state = 'claimed', attempts = attempts + 1, execution_id = p_execution_id, number = '', claimed_at = now(),
    first_claimed_at = coalesce(first_claimed_at, now()), reason = NULL, decided_at = NULL
  FROM next WHERE payout.external_id = next.external_id
  RETURNING payout.*
$$;

-- Adds and claims lines in one go, for "Pay once". Of all runs that bring one identifier, one gets it as its own (mine).
-- A row that was ever claimed is not claimed again, unless a person released it and the line says the same as the row.
CREATE OR REPLACE FUNCTION claim_once(p_lines jsonb, p_workflow_id text, p_execution_id text)
RETURNS TABLE ("position" integer, external_id text, amount text, recipient text, key_type text, description text,
  state text, reason text, execution_id text, attempts integer, mine boolean, differs boolean)
LANGUAGE plpgsql AS $$
-- The columns that it returns are variables too: where a name could be either, it is the table's column.
#variable_conflict use_column
DECLARE
  line record;
  known payout_register;
BEGIN
  -- In the order of their identifiers, or two runs could wait for one another.
  FOR line IN
    SELECT * FROM jsonb_to_recordset(p_lines) AS l ("position" integer, external_id text, amount text, key text, "keyType" text, description text)
    ORDER BY l.external_id, l."position"
  LOOP
    INSERT INTO payout_register (external_id, amount, recipient, key_type, description, workflow_id, state, attempts, execution_id, claimed_at, first_claimed_at)
      VALUES (line.external_id, line.amount, line.key, line."keyType", line.description, p_workflow_id, 'claimed', 1, p_execution_id, now(), now())
      ON CONFLICT (external_id) DO NOTHING;
    mine := FOUND;
    -- Another line or another run may have added it. If that run has not committed yet, this waits for it.
    SELECT * INTO known FROM payout_register AS r WHERE r.external_id = line.external_id FOR UPDATE;
    differs := (known.value, known.recipient, known.key_type) <> (plain_value(line.amount), line.key, line."keyType");
    IF known.state = 'due' AND known.workflow_id = p_workflow_id AND NOT differs THEN
      UPDATE payout_register AS r SET
        state = 'claimed', attempts = r.attempts + 1, execution_id = p_execution_id, number = '', claimed_at = now(),
        first_claimed_at = coalesce(r.first_claimed_at, now()), reason = NULL, decided_at = NULL
      WHERE r.external_id = line.external_id
      RETURNING r.* INTO known;
      mine := true;
    END IF;
    IF differs THEN
      INSERT INTO payout_heard (external_id, source, amount, recipient, key_type)
        VALUES (line.external_id, 'call', line.amount, line.key, line."keyType")
        ON CONFLICT DO NOTHING;
    END IF;
    "position" := line."position";
    external_id := known.external_id;
    amount := known.amount;
    recipient := known.recipient;
    key_type := known.key_type;
    description := known.description;
    state := known.state;
    reason := known.reason;
    execution_id := known.execution_id;
    attempts := known.attempts;
    RETURN NEXT;
  END LOOP;
END $$;

-- What a person released, as lines for claim_once. "Pay once" adds its rows as claimed, so one that is due was released.
CREATE OR REPLACE FUNCTION released_payouts(p_workflow_id text)
RETURNS TABLE (external_id text, amount text, key text, "keyType" text, description text) LANGUAGE sql STABLE AS $$
  SELECT external_id, amount, recipient, key_type, description FROM payout_register
  WHERE state = 'due' AND workflow_id = p_workflow_id ORDER BY due_at, external_id LIMIT 500
$$;

-- Writes what became of a claim, and gives the row as it is then. Where a postback or a person came first, the row is no
-- longer claimed, and nothing is written.
-- p_claimed_by and p_attempt say which claim. p_running is the execution that writes: if that is another one, as after
-- the editor's Retry, its "notSent" says nothing about what the first one sent.
-- p_number is the service's own number, and p_number_field where the response should have it; both empty: none is kept.
CREATE OR REPLACE FUNCTION write_outcome(p_external_id text, p_claimed_by text, p_attempt integer, p_running text, p_outcome text, p_reason text,
  p_number text DEFAULT '', p_number_field text DEFAULT '')
RETURNS TABLE (external_id text, state text, reason text) LANGUAGE sql AS $$
  UPDATE payout_register SET
    state = CASE
      WHEN p_outcome IN ('accepted', 'rejected') THEN p_outcome
      WHEN p_outcome = 'notSent' AND p_claimed_by = p_running THEN p_outcome
      ELSE 'unknown'
    END,
    number = p_number,
    reason = CASE
      WHEN p_outcome = 'accepted' AND p_number_field <> '' AND p_number = '' THEN
        'Its response has no number of the service in "' || p_number_field || '".'
      ELSE p_reason
    END,
    decided_at = now()
  WHERE external_id = p_external_id AND state = 'claimed' AND execution_id = p_claimed_by AND attempts = p_attempt;
  SELECT external_id, state, reason FROM payout_register WHERE external_id = p_external_id
$$;

---------------------------------------------------------------------------------------------- What the service says

-- Whether the service or a statement called it paid, with whatever amount, on whatever day. Then it has not failed, and is
-- not paid again.
CREATE OR REPLACE FUNCTION is_called_paid(p_external_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM payout_heard WHERE external_id = p_external_id AND meaning IN ('paid', 'early'))
$$;

-- Ends a row. Gives true if "Settled" is to get it, which is so once. How it ended first stays, whatever is said later.
CREATE OR REPLACE FUNCTION end_payout(p_external_id text, p_ending text, p_word text, p_by text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  is_first boolean;
BEGIN
  SELECT settled_at IS NULL INTO is_first FROM payout_register WHERE external_id = p_external_id FOR UPDATE;
  UPDATE payout_register SET
    state = 'settled',
    ending = CASE WHEN is_first THEN p_ending ELSE ending END,
    reported = CASE WHEN is_first THEN p_word ELSE reported END,
    reported_by = CASE WHEN is_first THEN p_by ELSE reported_by END,
    settled_at = coalesce(settled_at, now())
  WHERE external_id = p_external_id;
  RETURN is_first;
END $$;

-- Hears a word of the service. p_meaning is what the workflow takes it for: paid, failed, or empty.
CREATE OR REPLACE FUNCTION settle(p_external_id text, p_word text, p_meaning text, p_amount text)
RETURNS TABLE (external_id text, amount text, recipient text, ending text, reported text, state text, settled_now boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  known payout_register;
  is_same_amount boolean;
  settles_now boolean := false;
BEGIN
  SELECT * INTO known FROM payout_register WHERE external_id = p_external_id FOR UPDATE;
  IF NOT FOUND OR known.state = 'refused' THEN
    RETURN;
  END IF;
  INSERT INTO payout_heard (external_id, source, meaning, word, amount, state, attempt)
    VALUES (p_external_id, 'service', p_meaning, p_word, p_amount, known.state, known.attempts)
    ON CONFLICT DO NOTHING;

  is_same_amount := known.value = plain_value(p_amount);
  IF p_meaning = 'paid' AND is_same_amount AND known.state <> 'settled' THEN
    settles_now := end_payout(p_external_id, 'paid', p_word, 'service');
  -- After two tries, either may have failed. A row that is due, rejected or notSent waits for its next try, so what
  -- failed is an earlier one.
  ELSIF p_meaning = 'failed' AND is_same_amount AND known.attempts <= 1 AND known.state IN ('claimed', 'accepted', 'unknown')
    AND NOT is_called_paid(p_external_id) THEN
    settles_now := end_payout(p_external_id, 'failed', p_word, 'service');
  -- Money was sent, but another amount: a person must look before the row is paid.
  ELSIF p_meaning = 'paid' AND NOT is_same_amount AND known.state IN ('due', 'rejected', 'notSent') THEN
    UPDATE payout_register SET state = 'unknown' WHERE external_id = p_external_id;
  END IF;
  RETURN QUERY
    SELECT external_id, amount, recipient, ending, reported, state, settles_now FROM payout_register WHERE external_id = p_external_id;
END $$;

-- The rows to ask the service about. A claim of the last half hour belongs to a run that may still be working.
-- outcome is the state, and at the last claim: the book of the example "payouts" has these names, and both are read by
-- the same code. shares_number: another row has the same number of the service, so a response may be about that one.
CREATE OR REPLACE FUNCTION payouts_to_ask()
RETURNS TABLE (external_id text, outcome text, amount text, at timestamptz, number text, shares_number boolean)
LANGUAGE sql STABLE AS $$
  SELECT external_id, state, amount, claimed_at, number,
    number <> '' AND EXISTS (
      SELECT FROM payout_register AS other WHERE other.number = payout.number AND other.external_id <> payout.external_id
    )
  FROM payout_register AS payout
  WHERE state IN ('unknown', 'accepted') OR state = 'claimed' AND claimed_at < now() - interval '30 minutes'
  ORDER BY claimed_at, external_id
$$;

------------------------------------------------------------------------------------------------ What a person decides

-- A state as people read it.
CREATE OR REPLACE FUNCTION state_in_words(p_state text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_state WHEN 'notSent' THEN 'not sent' ELSE p_state END
$$;

-- Carries out a decision, and says in words what was done. The decisions are those of the page "Decide on a payout".
CREATE OR REPLACE FUNCTION decide(p_external_id text, p_decision text, p_amount text, p_recipient text, p_why text, p_workflow_id text)
RETURNS TABLE (external_id text, amount text, recipient text, ending text, reported text, state text, settled_now boolean, says text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  known payout_register;
  -- Claimed more than half an hour ago. A newer claim belongs to a run that may still be working.
  is_abandoned boolean;
  was_called_paid boolean;
  is_allowed boolean;
  settles_now boolean := false;
  why_not text := '';
BEGIN
  SELECT * INTO known FROM payout_register WHERE external_id = p_external_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT p_external_id, NULL, NULL, NULL, NULL, NULL, false, 'There is no payout ' || p_external_id || ' in the register.';
    RETURN;
  END IF;
  is_abandoned := known.state = 'claimed' AND known.claimed_at < now() - interval '30 minutes';
  was_called_paid := is_called_paid(p_external_id);
  is_allowed := CASE p_decision
    WHEN 'Pay it (again)' THEN (known.state IN ('rejected', 'notSent') OR is_abandoned) AND NOT was_called_paid
    WHEN 'Pay it from this workflow' THEN known.state = 'due'
    WHEN 'Close it: it is not to be paid' THEN known.state IN ('due', 'rejected', 'notSent', 'unknown', 'refused') OR is_abandoned
    WHEN 'Note it as paid' THEN known.state IN ('due', 'rejected', 'notSent', 'unknown', 'accepted', 'closed') OR is_abandoned
    ELSE false
  END;
  IF NOT is_allowed THEN
    IF known.state = 'claimed' AND NOT is_abandoned THEN
      why_not := ' A claim must be older than 30 minutes.';
    ELSIF was_called_paid THEN
      why_not := ' It was reported as paid: see the hourly report.';
    ELSIF known.state = 'unknown' THEN
      why_not := ' If the service does not know it, close it and pay it under a new identifier.';
    END IF;
    RETURN QUERY SELECT p_external_id, known.amount, known.recipient, known.ending, known.reported, known.state, false,
      'Nothing was changed: ' || p_external_id || ' is ' || state_in_words(known.state) || ', and this decision does not go with that.' || why_not;
    RETURN;
  END IF;

  UPDATE payout_register SET reason = concat_ws(': ', p_decision, nullif(p_why, '')), decided_at = now()
    WHERE external_id = p_external_id;
  IF p_decision = 'Pay it (again)' THEN
    -- What is said from now on may still be about the tries before, so what those sent is kept.
    IF known.attempts > 0 AND (p_amount <> '' OR p_recipient <> '') THEN
      INSERT INTO payout_heard (external_id, source, amount, recipient, key_type, state, attempt)
        VALUES (p_external_id, 'person', known.amount, known.recipient, known.key_type, known.state, known.attempts)
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE payout_register SET
      state = 'due', due_at = now(), released_at = now(),
      amount = coalesce(nullif(p_amount, ''), amount), recipient = coalesce(nullif(p_recipient, ''), recipient)
    WHERE external_id = p_external_id;
  ELSIF p_decision = 'Pay it from this workflow' THEN
    UPDATE payout_register SET workflow_id = p_workflow_id, due_at = now(), released_at = now() WHERE external_id = p_external_id;
  ELSIF p_decision = 'Note it as paid' THEN
    settles_now := end_payout(p_external_id, 'paid', 'noted by a person', 'person');
  ELSE
    UPDATE payout_register SET state = 'closed' WHERE external_id = p_external_id;
  END IF;
  RETURN QUERY
    SELECT external_id, amount, recipient, ending, reported, state, settles_now,
      external_id || ' was ' || state_in_words(known.state) || ' and is ' || state || ' now.' ||
      CASE state WHEN 'due' THEN ' It is paid within minutes: ' || amount || ' to ' || recipient || '.' ELSE '' END
    FROM payout_register WHERE external_id = p_external_id;
END $$;

-------------------------------------------------------------------------------------------------- The statement's lines

-- A word as words are compared: upper and lower case do not count, nor how its letters are composed.
CREATE OR REPLACE FUNCTION plain_word(p_word text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT lower(normalize(p_word, NFC))
$$;

-- The words of some lists of Settings, such as "paid, done", each with the name of its list.
CREATE OR REPLACE FUNCTION words_of(p_words jsonb, p_lists text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(plain_word(btrim(typed)), list), '{}')
  FROM jsonb_each_text(p_words) AS lists (list, words) CROSS JOIN LATERAL unnest(string_to_array(words, ',')) AS typed
  WHERE list = ANY (p_lists) AND btrim(typed) <> ''
$$;

-- Whether a text is a day such as 2026-11-30. 30/11/2026 is not, and 2026-02-30 is not.
CREATE OR REPLACE FUNCTION is_day(p_text text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND to_char(p_text::date, 'YYYY-MM-DD') = p_text;
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
  RETURN false;
END $$;

-- The lines of a statement with what their words mean. Only the five columns and the number are read, and nothing is
-- guessed: a word that no setting names has no meaning, and statement_problems refuses the statement.
-- p_words has the lists of Settings: out and in, for directions, and paid, failed, returned, pending and other, for words.
-- Three columns are added to each line:
--   way      the list that has its direction: out or in.
--   said     the list that has its word: paid, failed, returned, pending or other.
--   meaning  what both say of a payout: said, for a line out; came in, returned, failed to come in or other, for a
--            line in.
CREATE OR REPLACE FUNCTION statement_lines(p_lines jsonb, p_words jsonb)
RETURNS TABLE (line integer, reads text, external_id text, day text, amount text, direction text, word text, number text,
  way text, said text, meaning text)
LANGUAGE sql IMMUTABLE AS $$
  WITH trimmed AS (
    SELECT coalesce(line, place::integer) AS line, coalesce(reads, '') AS reads,
      normalize(btrim(coalesce(identifier, '')), NFC) AS external_id,
      btrim(coalesce(day, '')) AS day, btrim(coalesce(amount, '')) AS amount, btrim(coalesce(direction, '')) AS direction,
      btrim(coalesce(word, '')) AS word, btrim(coalesce(number, '')) AS number
    -- Where a line does not say which one it is, its place in the list does.
    FROM ROWS FROM (jsonb_to_recordset(p_lines) AS
      (line integer, reads text, identifier text, day text, amount text, direction text, word text, number text)
    ) WITH ORDINALITY AS l (line, reads, identifier, day, amount, direction, word, number, place)
  ), settings AS MATERIALIZED (
    SELECT words_of(p_words, '{out,in}') AS directions, words_of(p_words, '{paid,failed,returned,pending,other}') AS words
  ), named AS (
    SELECT trimmed.*, directions->>plain_word(direction) AS way, settings.words->>plain_word(word) AS said
    FROM trimmed CROSS JOIN settings
    -- All of them empty: no line.
    WHERE concat(external_id, day, amount, direction, word, number) <> ''
  )
  SELECT line, reads, external_id, day, amount, direction, word, number, way, said,
    CASE
      WHEN way = 'out' THEN said
      -- What came in is no payout, and what waits there says nothing of one.
      WHEN way = 'in' AND said = 'paid' THEN 'came in'
      WHEN way = 'in' AND said = 'returned' THEN 'returned'
      -- A customer's payment that failed, or the money of a payout that failed, on its way back.
      WHEN way = 'in' AND said = 'failed' THEN 'failed to come in'
      WHEN way = 'in' AND said IS NOT NULL THEN 'other'
    END
  FROM named
$$;

-- Why a statement cannot be compared, in a sentence for each problem. One line that is not clear refuses them all.
CREATE OR REPLACE FUNCTION statement_problems(p_lines jsonb, p_words jsonb, p_from text, p_to text, p_time_zone text, p_margin_hours numeric)
RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT '"' || coalesce(day, '') || '" is not a day such as 2026-11-30.'
    FROM unnest(ARRAY[p_from, p_to]) AS day WHERE is_day(day) IS NOT TRUE
  UNION ALL
  SELECT 'The margin must be 0 or more hours.' WHERE (p_margin_hours >= 0) IS NOT TRUE
  UNION ALL
  SELECT 'The word "' || word || '" means two things in Settings: ' || string_agg(DISTINCT meaning, ' and ' ORDER BY meaning) || '.'
    FROM jsonb_each_text(p_words) AS list (meaning, words)
    CROSS JOIN LATERAL unnest(string_to_array(words, ',')) AS typed
    CROSS JOIN LATERAL plain_word(btrim(typed)) AS word
    WHERE word <> ''
    -- A direction and a word stand in two columns, so they may be the same.
    GROUP BY word, meaning IN ('out', 'in') HAVING count(DISTINCT meaning) > 1
  UNION ALL
  SELECT 'The file has no lines.' WHERE NOT EXISTS (SELECT FROM statement_lines(p_lines, p_words))
  UNION ALL
  SELECT 'No line has an identifier.' FROM statement_lines(p_lines, p_words) HAVING count(*) > 0 AND max(external_id) = ''
  UNION ALL
  -- Such as in a sheet of which one column was sorted alone.
  SELECT 'Line ' || line.line || ': The identifier is that of "' || payout.external_id || '", and the number that of "' ||
    min(other.external_id) || '". If the numbers of the file are not those of the service, leave the column "number" empty. It reads: ' || line.reads
  FROM statement_lines(p_lines, p_words) AS line
  JOIN payout_register AS payout ON payout.external_id = line.external_id AND lower(payout.number) <> lower(line.number)
  JOIN payout_register AS other ON lower(other.number) = lower(line.number)
  WHERE line.number <> '' AND line.meaning IN ('paid', 'failed', 'returned', 'came in')
  GROUP BY line.line, payout.external_id, line.reads
  UNION ALL
  SELECT 'Line ' || line || ': ' || problem || ' It reads: ' || reads
  FROM statement_lines(p_lines, p_words) CROSS JOIN LATERAL (VALUES
    -- U+FFFD stands for what an encoding does not have.
    (concat(reads, external_id, direction, word, number) ~ U&'\FFFD',
      'It has letters that cannot be read: set the encoding of the file.'),
    ('{undefined,null,NaN,[object Object]}'::text[] && ARRAY[external_id, day, amount, direction, word],
      'A column of it was not found.'),
    (way IS NULL, 'The direction "' || direction || '" is in none of the settings.'),
    (said IS NULL, 'The word "' || word || '" is in none of the settings.'),
    (amount <> '' AND amount !~ '^[0-9]{1,15}([.][0-9]{1,8})?$', 'The amount "' || amount || '" is not a plain number such as 1234.56.'),
    (amount ~ '^[0-9]{1,3}[.][0-9]{3}$', 'The amount "' || amount || '" can be read in two ways.'),
    (amount = '' AND said IN ('paid', 'returned'), 'It has no amount.'),
    (day <> '' AND NOT is_day(day), 'The day "' || day || '" is not a day such as 2026-11-30.'),
    (day = '' AND said IN ('paid', 'returned', 'failed'), 'It has no day.'),
    (is_day(day) AND said IS DISTINCT FROM 'pending' AND day NOT BETWEEN p_from AND p_to,
      'The day ' || day || ' is not in the period from ' || p_from || ' to ' || p_to || '.'),
    -- Such as a transfer that is only planned.
    (meaning = 'paid' AND is_day(day) AND day > (now() AT TIME ZONE p_time_zone)::date::text, 'The day ' || day || ' has not come yet.')
  ) AS rule (is_broken, problem)
  WHERE is_broken
$$;

-- The most payments of a value that one statement tells apart, each by a number of the service of its own. Lines without
-- a number may be one payment that stands there twice, and so may lines of two statements, of two sources with a number each.
CREATE OR REPLACE FUNCTION payments_apart(p_external_id text, p_value text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(numbers), 0) FROM (
    SELECT count(DISTINCT lower(number)) AS numbers FROM payout_heard
    WHERE external_id = p_external_id AND source = 'statement' AND meaning = 'paid' AND value = p_value AND number NOT LIKE day || ' #%'
    -- What one statement has was written at one time.
    GROUP BY at
  ) AS statement
$$;

-- What all statements so far have of a row, and what follows from that: the finding. It does not depend on the row's state.
--   times          payments of the row's own amount: lines under one number are one.
--   others         lines that paid another amount.
--   early          lines that paid it before it was sent.
--   back           lines of money that came in or was returned. They count against a payment whatever their amount:
--                  perhaps it is the same money.
--   back_unsure    of back, those without a number of the service: each may stand for several.
--   against        lines that speak against a payment, and say nothing where there is none.
--   failed_others  lines of a failure with another amount. A failure need not have one.
--   paid_on        the day of the payment. Under one number it is the first day: what comes after is the same payment.
--   numbers_tell_apart  each line of a payment or a failure has a number of the service, and none has the same.
CREATE OR REPLACE VIEW payout_statement AS
WITH line AS (
  SELECT heard.external_id, meaning, word, heard.amount, heard.value, day, heard.number, payout.attempts,
    heard.value = payout.value AS is_whole,
    heard.number NOT LIKE day || ' #%' AS is_numbered,
    min(day) OVER (PARTITION BY heard.external_id, meaning, heard.value, lower(heard.number)) AS first_day
  FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
  WHERE heard.source = 'statement'
), counted AS (
  SELECT external_id, attempts,
    count(DISTINCT number) FILTER (WHERE meaning = 'paid' AND is_whole) AS times,
    count(*) FILTER (WHERE meaning = 'paid' AND NOT is_whole) AS others,
    count(*) FILTER (WHERE meaning = 'early') AS early,
    count(*) FILTER (WHERE meaning IN ('came in', 'returned')) AS back,
    count(*) FILTER (WHERE meaning IN ('came in', 'returned') AND NOT is_numbered) AS back_unsure,
    count(*) FILTER (WHERE meaning = 'against') AS against,
    count(*) FILTER (WHERE meaning = 'failed') AS failed,
    count(*) FILTER (WHERE meaning = 'failed' AND NOT is_whole AND value <> '') AS failed_others,
    -- The day of the payment itself, where it is there: a fee may follow a failure.
    coalesce(max(first_day) FILTER (WHERE meaning = 'paid' AND is_whole), max(first_day) FILTER (WHERE meaning = 'paid')) AS paid_on,
    max(day) FILTER (WHERE meaning = 'failed') AS failed_on,
    min(value) FILTER (WHERE meaning = 'paid' AND is_whole) AS paid_each,
    sum(value::numeric) FILTER (WHERE meaning IN ('came in', 'returned')) AS back_sum,
    coalesce(bool_and(is_numbered) FILTER (WHERE meaning IN ('paid', 'failed')), false)
      AND NOT array_agg(lower(number)) FILTER (WHERE meaning = 'paid')
        && array_agg(lower(number)) FILTER (WHERE meaning = 'failed') AS numbers_tell_apart,
    min(word) FILTER (WHERE meaning = 'paid') AS word,
    string_agg(concat_ws(' ', CASE meaning WHEN 'early' THEN 'paid' WHEN 'against' THEN 'against it: ' || word ELSE meaning END,
      nullif(amount, ''), 'on', day), ', ' ORDER BY day, meaning DESC, amount) AS lines
  FROM line
  GROUP BY external_id, attempts
)
-- A register of before has these columns in this order.
SELECT external_id, attempts, times, others, early, back, failed, failed_others, paid_on, failed_on, word, lines,
  CASE
    WHEN early > 0 THEN 'Paid before it was sent'
    -- One of the payments is still with the recipient: fewer lines came back, and less money.
    -- A failure may be of that very payment.
    WHEN back > 0 AND failed = 0 AND against = 0 AND back_unsure = 0 AND payments_apart(external_id, paid_each) > back
      AND (payments_apart(external_id, paid_each) - 1) * paid_each::numeric >= back_sum THEN 'Paid more than once, and some came back'
    WHEN back > 0 AND times + others > 0 THEN 'Paid, and money came in or back'
    WHEN back > 0 THEN 'Money came in or back'
    WHEN against > 0 AND times + others > 0 THEN 'Paid, and a line speaks against it'
    -- On one day, nobody knows which was first: unless there were two tries, and the numbers tell one from the other.
    WHEN times + others > 0 AND (failed_on > paid_on OR failed_on = paid_on AND (attempts <= 1 OR numbers_tell_apart IS NOT TRUE))
      THEN 'Paid, and failed later'
    WHEN times > 1 THEN 'Paid twice'
    WHEN times = 1 AND others > 0 THEN 'Paid, and another amount too'
    WHEN others > 0 THEN 'Wrong amount'
    WHEN times = 1 THEN 'Paid'
    WHEN failed > 0 THEN 'Failed in the statement'
  END AS finding
FROM counted;

-- Compares the lines of a statement with the register, and says in words what it found and what it changes.
-- At first it changes nothing, and says a code of exactly these findings. With that code as p_code it changes them.
-- settled has the rows that "Settled" is to get.
CREATE OR REPLACE FUNCTION compare_statement(p_lines jsonb, p_words jsonb, p_from text, p_to text, p_time_zone text, p_margin_hours numeric, p_code text)
RETURNS TABLE (says text, settled jsonb) LANGUAGE plpgsql AS $$
DECLARE
  problems text;
  -- How many lines of the statement were not noted before, and the rows that these are about. What was noted before
  -- changes nothing again: a person may have decided since.
  noted integer;
  noted_ids text[];
  findings jsonb;
  finding record;
  sentences text;
  changed integer := 0;
  settled_ids text[] := '{}';
  code text;
BEGIN
  settled := '[]';
  SELECT string_agg(problem, E'\n') INTO problems
    FROM statement_problems(p_lines, p_words, p_from, p_to, p_time_zone, p_margin_hours) AS problem;
  IF problems IS NOT NULL THEN
    says := E'Nothing was compared.\n' || problems;
    RETURN NEXT;
    RETURN;
  END IF;

  -- The block below always notes the lines, changes the rows and makes the code of what it found. Where the code that
  -- was given is another one, it then raises PAY01, which undoes what it did to the tables. Variables keep what they hold.
  BEGIN
    -- In one order, or two comparisons could wait for one another.
    PERFORM FROM payout_register AS payout
      WHERE payout.external_id IN (SELECT line.external_id FROM statement_lines(p_lines, p_words) AS line)
        OR lower(payout.number) IN (SELECT lower(line.number) FROM statement_lines(p_lines, p_words) AS line WHERE line.number <> '')
      ORDER BY payout.external_id FOR UPDATE;

    WITH line AS (
      SELECT *,
        row_number() OVER (PARTITION BY l.external_id, l.day, l.meaning, plain_value(l.amount), l.number) AS place
      FROM statement_lines(p_lines, p_words) AS l
      WHERE l.meaning IN ('paid', 'failed', 'returned', 'came in', 'failed to come in')
    ), numbered AS (
      SELECT lower(payout.number) AS number, payout.external_id FROM payout_register AS payout WHERE payout.number <> ''
      UNION
      SELECT lower(line.number), line.external_id FROM line WHERE line.meaning = 'paid' AND line.number <> ''
    ), about AS (
      SELECT line.*, line.external_id AS payout_id, line.meaning = 'failed to come in' AS is_against FROM line
      UNION ALL
      -- The statement may have what became of a payment under its number alone. That speaks against it, and no more: a
      -- number that is the same by chance makes nothing payable.
      SELECT line.*, numbered.external_id, true FROM line JOIN numbered ON numbered.number = lower(line.number)
      WHERE line.meaning <> 'paid'
        AND NOT EXISTS (SELECT FROM payout_register AS payout WHERE payout.external_id = line.external_id)
    ), written AS (
      INSERT INTO payout_heard (external_id, source, meaning, word, amount, day, number, state, attempt)
      SELECT payout.external_id, 'statement',
        CASE
          WHEN about.is_against THEN 'against'
          -- Nobody can have paid it before it was sent or, where it never was, before it was in the register; nor before
          -- a person released it to another recipient.
          WHEN about.meaning = 'paid' AND about.day < (greatest(
            coalesce(payout.first_claimed_at, payout.claimed_at, payout.added_at),
            (SELECT max(before.at) FROM payout_heard AS before
              WHERE before.external_id = payout.external_id AND before.source = 'person' AND before.recipient <> payout.recipient)
          ) AT TIME ZONE p_time_zone)::date::text THEN 'early'
          ELSE about.meaning
        END,
        CASE WHEN about.is_against THEN about.meaning ELSE about.word END,
        plain_value(about.amount), about.day,
        CASE
          -- Lines without a number of the service may read the same and be two payments, so they are counted.
          WHEN about.number = '' THEN about.day || ' #' || about.place
          -- Under one number, money may come back in two parts. A payment under one number is one.
          WHEN about.meaning IN ('returned', 'came in') AND about.place > 1 THEN about.number || ' #' || about.place
          ELSE about.number
        END,
        payout.state, payout.attempts
      FROM about JOIN payout_register AS payout ON payout.external_id = about.payout_id
      WHERE payout.state <> 'refused'
      ON CONFLICT DO NOTHING
      RETURNING payout_heard.external_id
    )
    SELECT coalesce(array_agg(DISTINCT written.external_id), '{}'), count(*) INTO noted_ids, noted FROM written;

    -- What the statements have of a row, seen from its state. A row that only earlier statements have is not told again.
    WITH brought AS (
      SELECT l.external_id, coalesce(bool_or(l.said = 'pending'), false) AS is_pending FROM (
        SELECT line.external_id, line.said FROM statement_lines(p_lines, p_words) AS line
        UNION ALL
        -- Also those that it names by their number alone.
        SELECT unnest(noted_ids), NULL
      ) AS l
      GROUP BY l.external_id
    ), found AS (
      SELECT payout.external_id, payout.amount, payout.recipient, payout.state AS was, seen.word, seen.lines,
        payout.external_id = ANY (noted_ids) AS is_new,
        CASE
          WHEN payout.state = 'refused' THEN NULL
          WHEN brought.external_id IS NOT NULL AND seen.finding = 'Paid' THEN CASE
            WHEN payout.state IN ('unknown', 'claimed') THEN 'Arrived'
            WHEN payout.state IN ('due', 'rejected', 'notSent', 'closed') THEN 'Paid, and nobody knew'
            WHEN payout.state = 'settled' AND payout.ending = 'failed' THEN 'Reported as failed, but paid'
          END
          WHEN brought.external_id IS NOT NULL AND seen.finding = 'Failed in the statement' THEN CASE
            WHEN brought.is_pending THEN NULL
            WHEN payout.state IN ('unknown', 'claimed') THEN seen.finding
            WHEN payout.state = 'accepted' OR payout.state = 'settled' AND payout.ending = 'paid' THEN 'Accepted, and failed in the statement'
          END
          WHEN brought.external_id IS NOT NULL AND seen.finding IS NOT NULL THEN seen.finding
          -- That a payout is not there says something only if it was sent in the period, and long enough before its end.
          WHEN seen.finding IS NOT NULL OR brought.is_pending OR payout.claimed_at IS NULL
            OR payout.claimed_at < p_from::date::timestamp AT TIME ZONE p_time_zone
            OR payout.claimed_at >= least((p_to::date + 1)::timestamp AT TIME ZONE p_time_zone, now()) - make_interval(mins => (p_margin_hours * 60)::integer)
            THEN NULL
          WHEN payout.state IN ('unknown', 'claimed') THEN 'Never arrived'
          WHEN payout.state = 'accepted' OR payout.state = 'settled' AND payout.ending = 'paid' THEN 'Accepted, and not in the statement'
        END AS finding,
        -- The row was tried once, and that try failed: not before its claim, and with no other amount. A claim of the last
        -- half hour belongs to a run that may still be working, and that writes its own outcome.
        seen.failed_others = 0 AND payout.attempts = 1
          AND NOT (payout.state = 'claimed' AND payout.claimed_at >= now() - interval '30 minutes')
          AND seen.failed_on >= (payout.claimed_at AT TIME ZONE p_time_zone)::date::text AS is_its_failure
      FROM payout_register AS payout
      LEFT JOIN payout_statement AS seen ON seen.external_id = payout.external_id
      LEFT JOIN brought ON brought.external_id = payout.external_id
    ), decided AS (
      SELECT *, CASE
        WHEN NOT is_new OR was = 'settled' THEN NULL
        WHEN found.finding IN ('Arrived', 'Paid, and nobody knew', 'Paid twice', 'Paid, and another amount too', 'Paid more than once, and some came back') THEN 'settled'
        WHEN was = 'closed' THEN NULL
        -- That it is not in the statement may be the statement's fault, so that makes nothing payable.
        WHEN found.finding = 'Failed in the statement' AND is_its_failure AND NOT is_called_paid(found.external_id) THEN 'rejected'
        -- What may have been paid waits for a person.
        WHEN found.finding = 'Wrong amount' THEN nullif('unknown', was)
        WHEN found.finding IN ('Paid before it was sent', 'Paid, and money came in or back', 'Money came in or back',
          'Paid, and a line speaks against it', 'Paid, and failed later')
          AND was IN ('due', 'rejected', 'notSent') THEN 'unknown'
      END AS becomes
      FROM found WHERE found.finding IS NOT NULL
      UNION ALL
      SELECT l.external_id, NULL, NULL, NULL, NULL, string_agg('paid ' || plain_value(l.amount) || ' on ' || l.day, ', ' ORDER BY l.day, l.line), false,
        'Paid, and not in the register', NULL, NULL
      FROM statement_lines(p_lines, p_words) AS l
      WHERE l.meaning = 'paid' AND NOT EXISTS (SELECT FROM payout_register AS payout WHERE payout.external_id = l.external_id)
      GROUP BY l.external_id
    )
    SELECT coalesce(jsonb_agg(decided ORDER BY decided.finding, decided.external_id), '[]') INTO findings FROM decided;

    FOR finding IN
      SELECT * FROM jsonb_to_recordset(findings) AS f (external_id text, word text, lines text, finding text, becomes text)
      WHERE f.becomes IS NOT NULL
    LOOP
      IF finding.becomes = 'settled' AND end_payout(finding.external_id, 'paid', finding.word, 'statement') THEN
        settled_ids := settled_ids || finding.external_id;
      END IF;
      UPDATE payout_register AS payout SET
        state = finding.becomes, reason = 'Statement: ' || finding.finding || ': ' || finding.lines, decided_at = now()
      WHERE payout.external_id = finding.external_id;
      changed := changed + 1;
    END LOOP;
    SELECT coalesce(jsonb_agg(payout ORDER BY payout.external_id), '[]') INTO settled
      FROM payout_register AS payout WHERE payout.external_id = ANY (settled_ids);

    SELECT string_agg(
      f.finding || ': ' || coalesce(nullif(f.external_id, ''), 'without an identifier') ||
      coalesce(', ' || f.amount || ' to ' || f.recipient, '') || coalesce(', in the statement ' || f.lines, '') ||
      coalesce(' (' || f.was || coalesce(' becomes ' || f.becomes, ' stays') || ')', ''), E'\n') INTO sentences
    FROM jsonb_to_recordset(findings) AS f (external_id text, amount text, recipient text, was text, lines text, finding text, becomes text);

    SELECT left(md5(concat(noted_ids, jsonb_agg(f))), 8) INTO code FROM jsonb_array_elements(findings) AS f WHERE (f->>'is_new')::boolean;
    IF noted > 0 AND code = p_code THEN
      says := concat_ws(E'\n', sentences, changed || ' changed, lines noted: ' || noted || '.');
    ELSIF noted = 0 THEN
      says := concat_ws(E'\n', sentences, 'There is nothing to change.');
      RAISE EXCEPTION 'only shown' USING ERRCODE = 'PAY01';
    ELSE
      says := concat_ws(E'\n', sentences,
        CASE WHEN p_code = '' THEN 'Nothing was changed yet.' ELSE 'Nothing was changed: the code is not the one of these findings.' END ||
        ' To change what stands here, send the same statement again with the code ' || code || '.');
      RAISE EXCEPTION 'only shown' USING ERRCODE = 'PAY01';
    END IF;
  EXCEPTION WHEN SQLSTATE 'PAY01' THEN
    settled := '[]';
  END;
  RETURN NEXT;
END $$;

------------------------------------------------------------------------------------------------- What a person is told

CREATE OR REPLACE FUNCTION utc_minute(p_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'
$$;

-- Who said how a settled row ended, as the beginning of a sentence.
CREATE OR REPLACE FUNCTION ended_by(payout payout_register) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE payout.reported_by
    WHEN 'person' THEN 'A person noted it as paid'
    WHEN 'statement' THEN 'The statement said "' || payout.reported || '"'
    ELSE 'The service said "' || payout.reported || '"'
  END || coalesce(' at ' || utc_minute(payout.settled_at), '')
$$;

-- What does not fit, a sentence for each. Sentences are made from what was heard and from the row as it is now, so one
-- that is no longer true is no longer there.
CREATE OR REPLACE VIEW payout_sentence AS
SELECT external_id,
  'A list of workflow ' || heard.workflow_id || ' says ' || heard.amount || ' to ' || heard.recipient || ', and this payout is ' ||
  payout.amount || ' to ' || payout.recipient || ', of workflow ' || payout.workflow_id || ': the line was not paid' AS what
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'list' AND (heard.value, heard.recipient, heard.key_type, heard.workflow_id)
  <> (payout.value, payout.recipient, payout.key_type, payout.workflow_id)
UNION
SELECT external_id,
  'It was asked for with ' || heard.amount || ' to ' || heard.recipient || ', and this payout is ' || payout.amount || ' to ' ||
  payout.recipient || ': that was not paid'
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'call' AND (heard.value, heard.recipient, heard.key_type)
  <> (payout.value, payout.recipient, payout.key_type)
UNION
SELECT external_id, 'The service says "' || heard.word || '" about ' || heard.amount || ', and this payout is ' || payout.amount
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'service' AND heard.meaning = 'paid' AND heard.value <> payout.value
UNION
-- The service contradicts what ended the row.
SELECT external_id,
  ended_by(payout) || CASE payout.reported_by WHEN 'service' THEN ' and then' ELSE ', and the service then said' END ||
  ' "' || heard.word || '" (' || utc_minute(heard.at) || ')'
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'service' AND heard.meaning IN ('paid', 'failed') AND heard.value = payout.value
  AND payout.state = 'settled' AND heard.meaning <> payout.ending AND heard.at >= coalesce(payout.settled_at, heard.at)
UNION
-- The statement contradicts it.
SELECT external_id, ended_by(payout) || ', and the statement has it as paid on ' || heard.day
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'statement' AND heard.meaning = 'paid' AND heard.value = payout.value
  AND payout.state = 'settled' AND payout.ending = 'failed'
UNION
-- It was paid, and nobody was to pay it: heard.state is the row's state of then.
SELECT external_id,
  CASE heard.source WHEN 'service' THEN 'The service says "' || heard.word || '"' ELSE 'The statement has it as paid on ' || heard.day END ||
  ', and this payout was ' || heard.state
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.meaning = 'paid' AND heard.value = payout.value AND heard.state IN ('due', 'rejected', 'notSent', 'closed')
UNION
SELECT external_id, 'The service says "' || heard.word || '", and there were ' || heard.attempt || ' tries: ask which one failed'
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'service' AND heard.meaning = 'failed' AND heard.value = payout.value
  AND heard.attempt = payout.attempts AND payout.attempts > 1
  AND heard.state IN ('claimed', 'accepted', 'unknown') AND payout.state IN ('claimed', 'accepted', 'unknown')
UNION
SELECT external_id, 'The service says "' || heard.word || '", and it was called paid before: ask which is true'
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'service' AND heard.meaning = 'failed' AND heard.value = payout.value
  AND heard.state IN ('claimed', 'accepted', 'unknown') AND payout.state IN ('claimed', 'accepted', 'unknown')
  AND is_called_paid(external_id)
UNION
-- A "paid" names no recipient. Before a release to another one, a try that reached the service was to the first.
SELECT external_id,
  'It was paid, and try ' || before.attempt || ', which was ' || before.state || ', was to ' || before.recipient || ', not to ' ||
  payout.recipient || ': see who got it'
FROM payout_heard AS before JOIN payout_register AS payout USING (external_id)
WHERE before.source = 'person' AND before.recipient <> payout.recipient AND before.state <> 'notSent'
  AND EXISTS (
    SELECT FROM payout_heard AS paid WHERE paid.external_id = before.external_id AND paid.meaning IN ('paid', 'early')
      AND paid.source IN ('service', 'statement') AND paid.value = before.value
  )
UNION
-- What a statement has of a row, but that it was paid once. A failure fits a row that has not ended, and one of two tries.
SELECT external_id, 'Statement: ' || seen.finding || ': ' || seen.lines || ', and this payout is ' || payout.amount || ' to ' || payout.recipient
FROM payout_statement AS seen JOIN payout_register AS payout USING (external_id)
WHERE seen.finding <> 'Paid' AND (seen.finding <> 'Failed in the statement'
  OR payout.state = 'accepted' OR payout.state = 'settled' AND payout.ending = 'paid' AND payout.attempts <= 1)
UNION
SELECT external_id, 'The register of 0.1.0 noted, and it may have changed since: ' || heard.word
FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
WHERE heard.source = 'note' AND NOT heard.word = ANY (payout.told);

-- What a person has to look at and was not told yet, in sentences. A new try, another reason or another word makes a new one.
CREATE OR REPLACE FUNCTION needs_person(p_claimed_minutes integer, p_accepted_hours integer, p_due_hours integer)
RETURNS TABLE (external_id text, amount text, recipient text, state text, workflow_id text, execution_id text, claimed_at timestamptz, what text)
LANGUAGE sql STABLE AS $$
  WITH waiting AS (
    SELECT external_id, CASE
      WHEN state = 'claimed' AND claimed_at < now() - make_interval(mins => p_claimed_minutes) THEN
        'Execution ' || execution_id || ' claimed it, try ' || attempts ||
        ', and did not say what became of it. See whether that execution has ended, and ask the service.'
      WHEN state = 'unknown' THEN 'Nobody knows whether it was paid, try ' || attempts || '. ' || coalesce(reason, '')
      WHEN state = 'rejected' THEN 'The service rejected it, try ' || attempts || '. ' || coalesce(reason, '')
      WHEN state = 'notSent' THEN 'It was not sent, try ' || attempts || '. ' || coalesce(reason, '')
      WHEN state = 'refused' THEN coalesce(reason, 'It is no payout.')
      WHEN state = 'accepted' AND claimed_at < now() - make_interval(hours => p_accepted_hours) THEN
        'The service accepted it, try ' || attempts || ', and has not said how it ended.' ||
        coalesce(' ' || nullif(reason, ''), '') || coalesce(
          ' Its last word, which "What the word means" does not know: ' || (
            SELECT heard.word FROM payout_heard AS heard
            WHERE heard.external_id = payout.external_id AND heard.source = 'service' AND heard.meaning = ''
            ORDER BY heard.at DESC LIMIT 1
          ), '')
      WHEN state = 'due' AND due_at < now() - make_interval(hours => p_due_hours) THEN
        'It is due since ' || utc_minute(due_at) || ', and workflow ' || workflow_id || ' does not pay it. Is that one published?'
    END AS what
    FROM payout_register AS payout
    WHERE state NOT IN ('settled', 'closed')
  )
  SELECT external_id, amount, recipient, state, workflow_id, execution_id, claimed_at, what
  FROM (SELECT * FROM waiting UNION ALL SELECT * FROM payout_sentence) AS sentence JOIN payout_register USING (external_id)
  WHERE what IS NOT NULL AND NOT what = ANY (told)
  ORDER BY external_id, what
$$;

-- Notes what a person was told. It comes after the report: a sentence that could not be reported is not lost.
CREATE OR REPLACE FUNCTION mark_told(p_rows jsonb) RETURNS void LANGUAGE sql AS $$
  UPDATE payout_register AS payout SET told = payout.told || sentences.told
  FROM (
    SELECT external_id, array_agg(what) AS told
    FROM jsonb_to_recordset(p_rows) AS sentence (external_id text, what text) GROUP BY external_id
  ) AS sentences
  WHERE payout.external_id = sentences.external_id
$$;

-- Last: from here on it counts as done.
COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version 6';
END $setup$;
