-- The register of payouts: who pays what, so that no payout is sent twice.
--
-- Every workflow that uses the register runs this file in its node "Set up", and then calls the functions below in one
-- line each. It is safe to run again and again, by many at once: it looks at the version of the register first, and does
-- nothing where that is this one or a newer one. A role that may only read and write is enough then.
-- For PostgreSQL 13 or later.
--
-- Two tables:
--   payout_register  one row for each External ID: what is to be paid, and what became of it.
--   payout_heard     what was heard about a row, and from whom. Nothing in it is ever changed.
--
-- Two facts about a row are kept apart:
--   It has ended: the state is settled or closed. A settled row stays settled, and settled_at says when "Settled" got it.
--     "Settled" gets it at that time and never again.
--   It is in doubt: what was heard does not fit the row. The view payout_sentence says how, in words that it makes from
--     the row as it is now. Doubt never undoes an end.
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
DO $setup$
DECLARE
  -- Raise it with every change of this file: a register of the same version is left as it is.
  this_version CONSTANT integer := 3;
BEGIN

-- The version stands in the comment of the table. What the examples of 0.1.0 made has none.
IF substring(obj_description(to_regclass('payout_register'), 'pg_class') FROM 'version ([0-9]+)')::integer >= this_version THEN
  RETURN;
END IF;
-- One after the other: two that create a table at once fail. The second one finds it done.
PERFORM pg_advisory_xact_lock(hashtext('payout_register'));
IF substring(obj_description(to_regclass('payout_register'), 'pg_class') FROM 'version ([0-9]+)')::integer >= this_version THEN
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
  -- How it ended, in which word, and whose word that was: of the service, of the statement or of a person.
  ending text CHECK (ending IN ('paid', 'failed')),
  reported text,
  reported_by text CHECK (reported_by IN ('service', 'statement', 'person')),
  -- The sentences that a person was told already.
  told text[] NOT NULL DEFAULT '{}',
  added_at timestamptz DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  released_at timestamptz,
  first_claimed_at timestamptz,
  claimed_at timestamptz,
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
  -- statement: paid, failed, came in, returned, or early for what was paid on a day before the row was sent.
  meaning text NOT NULL DEFAULT '',
  word text NOT NULL DEFAULT '',
  amount text NOT NULL DEFAULT '',
  value text NOT NULL GENERATED ALWAYS AS (plain_value(amount)) STORED,
  recipient text NOT NULL DEFAULT '',
  key_type text NOT NULL DEFAULT '',
  workflow_id text NOT NULL DEFAULT '',
  -- statement: the day, and what makes the line one of its own: the service's number, or the day and a count.
  day text NOT NULL DEFAULT '',
  number text NOT NULL DEFAULT '',
  -- The row's state and attempts when it was heard.
  state text NOT NULL DEFAULT '',
  attempt integer NOT NULL DEFAULT 0,
  at timestamptz NOT NULL DEFAULT now(),
  -- What was heard before is not written again. A line of a statement is known by its number, whatever its word.
  fingerprint text NOT NULL GENERATED ALWAYS AS (md5(
    source || E'\n' || meaning || E'\n' || amount || E'\n' || recipient || E'\n' || key_type || E'\n' || workflow_id ||
    E'\n' || number || E'\n' || CASE source WHEN 'statement' THEN '' ELSE attempt || E'\n' || word END
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
-- They had other parameters, and gave other columns.
DROP FUNCTION IF EXISTS write_outcome(text, text, integer, text, text, text);
DROP FUNCTION IF EXISTS payouts_to_ask();

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
  -- Which of the two lines is right? Nobody has tried either: a person says it. What a person released stands.
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
    -- Another line or run may have added it. Where it is claimed at this moment, this waits for that.
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

-- What a person released, as lines for claim_once.
CREATE OR REPLACE FUNCTION released_payouts(p_workflow_id text)
RETURNS TABLE (external_id text, amount text, key text, "keyType" text, description text) LANGUAGE sql STABLE AS $$
  SELECT external_id, amount, recipient, key_type, description FROM payout_register
  WHERE state = 'due' AND workflow_id = p_workflow_id ORDER BY due_at, external_id LIMIT 500
$$;

-- Writes what became of a claim. A postback or a person may have decided already: then nothing is written.
-- p_running is the execution that writes. Where it is not the one that claimed, its "notSent" says nothing about what
-- the other one sent.
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

-- Whether the service or a statement called it paid, with whatever amount. Then it has not failed, and is not paid again.
CREATE OR REPLACE FUNCTION is_called_paid(p_external_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM payout_heard WHERE external_id = p_external_id AND meaning = 'paid')
$$;

-- Ends a row. True where "Settled" is to get it: never a second time.
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
  is_end boolean := false;
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
    is_end := end_payout(p_external_id, 'paid', p_word, 'service');
  -- After two tries, either may have failed. What is not sent, or was released, cannot fail: that is an earlier try.
  ELSIF p_meaning = 'failed' AND is_same_amount AND known.attempts <= 1 AND known.state IN ('claimed', 'accepted', 'unknown')
    AND NOT is_called_paid(p_external_id) THEN
    is_end := end_payout(p_external_id, 'failed', p_word, 'service');
  -- Money was sent, but another amount: a person must look before the row is paid.
  ELSIF p_meaning = 'paid' AND NOT is_same_amount AND known.state IN ('due', 'rejected', 'notSent') THEN
    UPDATE payout_register SET state = 'unknown' WHERE external_id = p_external_id;
  END IF;
  RETURN QUERY
    SELECT external_id, amount, recipient, ending, reported, state, is_end FROM payout_register WHERE external_id = p_external_id;
END $$;

-- The rows to ask the service about. A newer claim belongs to a run that may still be working.
-- shares_number: another row has the same number of the service. What is said about it may be about that one.
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

-- Carries out a decision, and says in words what was done. The decisions are those of the page "Decide on a payout".
CREATE OR REPLACE FUNCTION decide(p_external_id text, p_decision text, p_amount text, p_recipient text, p_why text, p_workflow_id text)
RETURNS TABLE (external_id text, amount text, recipient text, ending text, reported text, state text, settled_now boolean, says text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  known payout_register;
  was text;
  -- Claimed half an hour ago and longer. A newer claim belongs to a run that may still be working.
  is_abandoned boolean;
  is_paid boolean;
  is_allowed boolean;
  is_end boolean := false;
  why_not text := '';
BEGIN
  SELECT * INTO known FROM payout_register WHERE external_id = p_external_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT p_external_id, NULL, NULL, NULL, NULL, NULL, false, 'There is no payout ' || p_external_id || ' in the register.';
    RETURN;
  END IF;
  was := known.state;
  is_abandoned := known.state = 'claimed' AND known.claimed_at < now() - interval '30 minutes';
  is_paid := is_called_paid(p_external_id);
  is_allowed := CASE p_decision
    WHEN 'Pay it (again)' THEN (known.state IN ('rejected', 'notSent') OR is_abandoned) AND NOT is_paid
    WHEN 'Pay it from this workflow' THEN known.state = 'due'
    WHEN 'Close it: it is not to be paid' THEN known.state IN ('due', 'rejected', 'notSent', 'unknown', 'refused') OR is_abandoned
    WHEN 'Note it as paid' THEN known.state IN ('due', 'rejected', 'notSent', 'unknown', 'accepted', 'closed') OR is_abandoned
    ELSE false
  END;
  IF NOT is_allowed THEN
    IF known.state = 'claimed' AND NOT is_abandoned THEN
      why_not := ' A claim must be older than 30 minutes.';
    ELSIF is_paid THEN
      why_not := ' It was reported as paid: see the hourly report.';
    ELSIF known.state = 'unknown' THEN
      why_not := ' If the service does not know it, close it and pay it under a new identifier.';
    END IF;
    RETURN QUERY SELECT p_external_id, known.amount, known.recipient, known.ending, known.reported, known.state, false,
      'Nothing was changed: ' || p_external_id || ' is ' || was || ', and this decision does not go with that.' || why_not;
    RETURN;
  END IF;

  UPDATE payout_register SET reason = concat_ws(': ', p_decision, nullif(p_why, '')), decided_at = now()
    WHERE external_id = p_external_id;
  IF p_decision = 'Pay it (again)' THEN
    -- What is said from now on may still be about the tries before.
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
    is_end := end_payout(p_external_id, 'paid', 'noted by a person', 'person');
  ELSE
    UPDATE payout_register SET state = 'closed' WHERE external_id = p_external_id;
  END IF;
  RETURN QUERY
    SELECT external_id, amount, recipient, ending, reported, state, is_end,
      external_id || ' was ' || was || ' and is ' || state || ' now.' ||
      CASE state WHEN 'due' THEN ' It is paid within minutes: ' || amount || ' to ' || recipient || '.' ELSE '' END
    FROM payout_register WHERE external_id = p_external_id;
END $$;

-------------------------------------------------------------------------------------------------- The statement's lines

-- Whether a word stands in a list such as "paid, done". Upper and lower case do not count.
CREATE OR REPLACE FUNCTION is_named(p_word text, p_list text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_word <> '' AND EXISTS (
    SELECT FROM unnest(string_to_array(p_list, ',')) AS named
    WHERE lower(normalize(btrim(named), NFC)) = lower(normalize(p_word, NFC))
  )
$$;

-- 30/11/2026 is none, and 2026-02-30 neither.
CREATE OR REPLACE FUNCTION is_day(p_text text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND to_char(p_text::date, 'YYYY-MM-DD') = p_text;
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
  RETURN false;
END $$;

-- The lines with what their words mean. Only the five columns and the number are read, and nothing is guessed: a word
-- that no setting names has no meaning, and statement_problems refuses the statement.
-- p_words has the lists out and in, for directions, and paid, failed, returned, pending and other, for words.
-- Of each line: way is the list that has its direction, said the list that has its word, and meaning what both say of a
-- payout: paid, failed, returned, came in, pending or other.
CREATE OR REPLACE FUNCTION statement_lines(p_lines jsonb, p_words jsonb)
RETURNS TABLE (line integer, reads text, external_id text, day text, amount text, direction text, word text, number text,
  way text, said text, meaning text)
LANGUAGE sql IMMUTABLE AS $$
  WITH trimmed AS (
    SELECT coalesce(line, place::integer) AS line, coalesce(reads, '') AS reads,
      normalize(btrim(coalesce(identifier, '')), NFC) AS external_id,
      btrim(coalesce(day, '')) AS day, btrim(coalesce(amount, '')) AS amount, btrim(coalesce(direction, '')) AS direction,
      btrim(coalesce(word, '')) AS word, btrim(coalesce(number, '')) AS number
    FROM ROWS FROM (jsonb_to_recordset(p_lines) AS
      (line integer, reads text, identifier text, day text, amount text, direction text, word text, number text)
    ) WITH ORDINALITY AS l (line, reads, identifier, day, amount, direction, word, number, place)
  ), named AS (
    SELECT *,
      CASE
        WHEN is_named(direction, p_words->>'out') THEN 'out'
        WHEN is_named(direction, p_words->>'in') THEN 'in'
      END AS way,
      CASE
        WHEN is_named(word, p_words->>'paid') THEN 'paid'
        WHEN is_named(word, p_words->>'failed') THEN 'failed'
        WHEN is_named(word, p_words->>'returned') THEN 'returned'
        WHEN is_named(word, p_words->>'pending') THEN 'pending'
        WHEN is_named(word, p_words->>'other') THEN 'other'
      END AS said
    FROM trimmed
    -- All of them empty: no line.
    WHERE concat(external_id, day, amount, direction, word, number) <> ''
  )
  SELECT line, reads, external_id, day, amount, direction, word, number, way, said,
    CASE
      WHEN way = 'out' THEN said
      -- What came in is no payout, and what failed or waits there says nothing of one.
      WHEN way = 'in' AND said = 'paid' THEN 'came in'
      WHEN way = 'in' AND said = 'returned' THEN 'returned'
      WHEN way = 'in' AND said IS NOT NULL THEN 'other'
    END
  FROM named
$$;

-- Why a statement cannot be compared, in a sentence for each problem. One line that is not clear refuses them all.
CREATE OR REPLACE FUNCTION statement_problems(p_lines jsonb, p_words jsonb, p_from text, p_to text, p_margin_hours numeric)
RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT '"' || coalesce(day, '') || '" is not a day such as 2026-11-30.'
    FROM unnest(ARRAY[p_from, p_to]) AS day WHERE is_day(day) IS NOT TRUE
  UNION ALL
  SELECT 'The margin must be 0 or more hours.' WHERE (p_margin_hours >= 0) IS NOT TRUE
  UNION ALL
  SELECT 'The word "' || lower(btrim(word)) || '" means two things in Settings: ' || string_agg(meaning, ' and ' ORDER BY meaning) || '.'
    FROM jsonb_each_text(p_words) AS list (meaning, words) CROSS JOIN LATERAL unnest(string_to_array(words, ',')) AS word
    WHERE btrim(word) <> ''
    GROUP BY lower(btrim(word)), meaning IN ('out', 'in') HAVING count(DISTINCT meaning) > 1
  UNION ALL
  SELECT 'The file has no lines.' WHERE NOT EXISTS (SELECT FROM statement_lines(p_lines, p_words))
  UNION ALL
  SELECT 'No line has an identifier.' FROM statement_lines(p_lines, p_words) HAVING count(*) > 0 AND max(external_id) = ''
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
      'The day ' || day || ' is not in the period from ' || p_from || ' to ' || p_to || '.')
  ) AS rule (is_broken, problem)
  WHERE is_broken
$$;

-- What all statements so far have of a row, and what follows from that: the finding. It does not know the row's state.
-- times: how often the row's amount was paid. others: payments of other amounts. early: see payout_heard. back: what came
-- in or was returned.
-- A line counts as the payment where it has the row's amount. What came in or back is counted against it, whatever its
-- amount: perhaps it is the same money.
CREATE OR REPLACE VIEW payout_statement AS
WITH counted AS (
  SELECT external_id, attempts,
    count(*) FILTER (WHERE meaning = 'paid' AND heard.value = payout.value) AS times,
    count(*) FILTER (WHERE meaning = 'paid' AND heard.value <> payout.value) AS others,
    count(*) FILTER (WHERE meaning = 'early') AS early,
    count(*) FILTER (WHERE meaning IN ('came in', 'returned')) AS back,
    count(*) FILTER (WHERE meaning = 'failed') AS failed,
    count(*) FILTER (WHERE meaning = 'failed' AND heard.value NOT IN ('', payout.value)) AS failed_others,
    max(day) FILTER (WHERE meaning = 'paid') AS paid_on,
    max(day) FILTER (WHERE meaning = 'failed') AS failed_on,
    min(word) FILTER (WHERE meaning = 'paid') AS word,
    string_agg(concat_ws(' ', CASE meaning WHEN 'early' THEN 'paid' ELSE meaning END, nullif(heard.amount, ''), 'on', day), ', '
      ORDER BY day, meaning DESC, heard.amount) AS lines
  FROM payout_heard AS heard JOIN payout_register AS payout USING (external_id)
  WHERE heard.source = 'statement'
  GROUP BY external_id, attempts
)
SELECT *,
  CASE
    WHEN early > 0 THEN 'Paid before it was sent'
    WHEN back > 0 AND times > back THEN 'Paid more than once, and some came back'
    WHEN back > 0 AND times + others > 0 THEN 'Paid, and money came in or back'
    WHEN back > 0 THEN 'Money came in or back'
    -- On one day, after one try: nobody knows which was first.
    WHEN times + others > 0 AND (failed_on > paid_on OR failed_on = paid_on AND attempts <= 1) THEN 'Paid, and failed later'
    WHEN times > 1 THEN 'Paid twice'
    WHEN times = 1 AND others > 0 THEN 'Paid, and another amount too'
    WHEN others > 0 THEN 'Wrong amount'
    WHEN times = 1 THEN 'Paid'
    WHEN failed > 0 THEN 'Failed in the statement'
  END AS finding
FROM counted;

-- Compares the lines of a statement with the register, and says in words what it found and what it changes.
-- It changes nothing, unless p_code is the code of exactly these findings, which it says when it is first asked.
-- settled has the rows that "Settled" is to get.
CREATE OR REPLACE FUNCTION compare_statement(p_lines jsonb, p_words jsonb, p_from text, p_to text, p_time_zone text, p_margin_hours numeric, p_code text)
RETURNS TABLE (says text, settled jsonb) LANGUAGE plpgsql AS $$
DECLARE
  problems text;
  -- The rows about which the statement has a line that was not noted before. What was noted before changes nothing
  -- again: a person may have decided since.
  noted_ids text[];
  noted integer;
  findings jsonb;
  finding record;
  sentences text;
  changed integer := 0;
  settled_ids text[] := '{}';
  code text;
BEGIN
  settled := '[]';
  SELECT string_agg(problem, E'\n') INTO problems
    FROM statement_problems(p_lines, p_words, p_from, p_to, p_margin_hours) AS problem;
  IF problems IS NOT NULL THEN
    says := E'Nothing was compared.\n' || problems;
    RETURN NEXT;
    RETURN;
  END IF;

  -- All is done in this block: the lines are noted, the rows changed, and the code is made of what was found. Without
  -- that code, an error at the end undoes what the block did to the tables. Variables keep what they hold.
  BEGIN
    -- In one order, or two comparisons could wait for one another.
    PERFORM FROM payout_register AS payout
      WHERE payout.external_id IN (SELECT line.external_id FROM statement_lines(p_lines, p_words) AS line)
      ORDER BY payout.external_id FOR UPDATE;

    WITH line AS (
      SELECT *,
        -- Lines without a number of the service that read the same are counted: they may be two payments.
        CASE WHEN l.number <> '' THEN l.number
          ELSE l.day || ' #' || row_number() OVER (PARTITION BY l.external_id, l.day, l.meaning, plain_value(l.amount))
        END AS own_number
      FROM statement_lines(p_lines, p_words) AS l
      WHERE l.meaning IN ('paid', 'failed', 'returned', 'came in')
    ), written AS (
      INSERT INTO payout_heard (external_id, source, meaning, word, amount, day, number, state, attempt)
      SELECT payout.external_id, 'statement',
        -- Nobody can have paid it before it was sent or, where it never was, before it was in the register.
        CASE
          WHEN line.meaning = 'paid' AND line.day <
            (coalesce(payout.first_claimed_at, payout.claimed_at, payout.added_at) AT TIME ZONE p_time_zone)::date::text THEN 'early'
          ELSE line.meaning
        END,
        line.word, plain_value(line.amount), line.day, line.own_number, payout.state, payout.attempts
      FROM line JOIN payout_register AS payout ON payout.external_id = line.external_id
      WHERE payout.state <> 'refused'
      ON CONFLICT DO NOTHING
      RETURNING payout_heard.external_id
    )
    SELECT coalesce(array_agg(DISTINCT written.external_id), '{}'), count(*) INTO noted_ids, noted FROM written;

    -- What the statements have of a row, seen from its state. Nothing is found in lines of earlier statements alone.
    WITH line AS (
      SELECT l.external_id, bool_or(l.said = 'pending') AS is_pending FROM statement_lines(p_lines, p_words) AS l GROUP BY l.external_id
    ), found AS (
      SELECT payout.external_id, payout.amount, payout.recipient, payout.state AS was, seen.word, seen.lines,
        payout.external_id = ANY (noted_ids) AS is_new,
        CASE
          WHEN payout.state = 'refused' THEN NULL
          WHEN line.external_id IS NOT NULL AND seen.finding = 'Paid' THEN CASE
            WHEN payout.state IN ('unknown', 'claimed') THEN 'Arrived'
            WHEN payout.state IN ('due', 'rejected', 'notSent', 'closed') THEN 'Paid, and nobody knew'
            WHEN payout.state = 'settled' AND payout.ending = 'failed' THEN 'Reported as failed, but paid'
          END
          WHEN line.external_id IS NOT NULL AND seen.finding = 'Failed in the statement' THEN CASE
            WHEN line.is_pending THEN NULL
            WHEN payout.state IN ('unknown', 'claimed') THEN seen.finding
            WHEN payout.state = 'accepted' OR payout.state = 'settled' AND payout.ending = 'paid' THEN 'Accepted, and failed in the statement'
          END
          WHEN line.external_id IS NOT NULL AND seen.finding IS NOT NULL THEN seen.finding
          -- What is not there says something only of what was sent in the period, and long enough before its end.
          WHEN seen.finding IS NOT NULL OR line.is_pending OR payout.claimed_at IS NULL
            OR payout.claimed_at < p_from::date::timestamp AT TIME ZONE p_time_zone
            OR payout.claimed_at >= least((p_to::date + 1)::timestamp AT TIME ZONE p_time_zone, now()) - make_interval(mins => (p_margin_hours * 60)::integer)
            THEN NULL
          WHEN payout.state IN ('unknown', 'claimed') THEN 'Never arrived'
          WHEN payout.state = 'accepted' OR payout.state = 'settled' AND payout.ending = 'paid' THEN 'Accepted, and not in the statement'
        END AS finding,
        -- One try that failed on the day of its claim or later, with its own amount.
        seen.failed_others = 0 AND payout.attempts = 1
          AND seen.failed_on >= (payout.claimed_at AT TIME ZONE p_time_zone)::date::text AS is_its_failure
      FROM payout_register AS payout
      LEFT JOIN payout_statement AS seen ON seen.external_id = payout.external_id
      LEFT JOIN line ON line.external_id = payout.external_id
    ), decided AS (
      SELECT *, CASE
        WHEN NOT is_new OR was = 'settled' THEN NULL
        WHEN found.finding IN ('Arrived', 'Paid, and nobody knew', 'Paid twice', 'Paid, and another amount too', 'Paid more than once, and some came back') THEN 'settled'
        WHEN was = 'closed' THEN NULL
        -- That it is not in the statement may be the statement's fault, so that makes nothing payable.
        WHEN found.finding = 'Failed in the statement' AND is_its_failure AND NOT is_called_paid(found.external_id) THEN 'rejected'
        -- What may have been paid waits for a person.
        WHEN found.finding = 'Wrong amount' THEN nullif('unknown', was)
        WHEN found.finding IN ('Paid before it was sent', 'Paid, and money came in or back', 'Money came in or back', 'Paid, and failed later')
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

-- Who said how a row ended, as the beginning of a sentence.
CREATE OR REPLACE FUNCTION ended_by(payout payout_register) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE payout.reported_by
    WHEN 'person' THEN 'A person noted it as paid'
    WHEN 'statement' THEN 'The statement said "' || payout.reported || '"'
    ELSE 'The service said "' || payout.reported || '"'
  END || coalesce(' at ' || utc_minute(payout.settled_at), '')
$$;

-- What does not fit: each sentence is made from what was heard and from the row as it is now.
-- A sentence that is no longer true is no longer there.
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
-- It was paid, and should not have been.
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
    SELECT FROM payout_heard AS paid WHERE paid.external_id = before.external_id AND paid.meaning = 'paid'
      AND paid.source IN ('service', 'statement') AND paid.value = before.value
  )
UNION
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
      WHEN state IN ('notSent', 'refused') THEN 'It was not sent, try ' || attempts || '. ' || coalesce(reason, '')
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
COMMENT ON TABLE payout_register IS 'Payouts of n8n-nodes-pay, version 3';
END $setup$;
