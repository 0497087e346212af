-- Pay once: of all executions that want to pay the same External ID, only one may.
--
-- The table has one row for each External ID. An execution claims the row, pays, and writes the outcome. PostgreSQL
-- lets one execution claim a row, however many try in the same moment. Run this file once; running it again does no harm.

CREATE TABLE IF NOT EXISTS pay_once (
  external_id text PRIMARY KEY CHECK (external_id <> ''),
  amount numeric NOT NULL,
  recipient text NOT NULL,
  -- The execution of n8n that claimed the row last.
  execution text NOT NULL,
  -- What the Pay node said. NULL: claimed, and nothing is said yet.
  outcome text CHECK (outcome IN ('accepted', 'rejected', 'notSent', 'unknown', 'duplicate')),
  reason text,
  -- A second execution that was accepted too: money went out twice.
  also_paid_by text,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);

-- CLAIM. Where "claimed" is true, the execution pays now. Else "refusal" says why not, and nothing is sent.
-- An External ID is free if it is new, or if its last try ended as rejected or notSent: it may be corrected and sent
-- again, so the row takes the new amount and recipient.
CREATE OR REPLACE FUNCTION pay_once_claim(
  p_external_id text, p_amount text, p_recipient text, p_execution text, OUT claimed boolean, OUT refusal text
) LANGUAGE plpgsql AS $$
DECLARE
  there pay_once;
BEGIN
  INSERT INTO pay_once AS held (external_id, amount, recipient, execution)
    VALUES (p_external_id, p_amount::numeric, p_recipient, p_execution)
    ON CONFLICT (external_id) DO UPDATE SET
      amount = EXCLUDED.amount, recipient = EXCLUDED.recipient, execution = EXCLUDED.execution,
      outcome = NULL, reason = NULL, claimed_at = now(), ended_at = NULL
      WHERE held.outcome IN ('rejected', 'notSent');
  claimed := FOUND;
  IF claimed THEN RETURN; END IF;
  SELECT * INTO there FROM pay_once WHERE external_id = p_external_id;
  refusal := format('execution %s has claimed it: %s', there.execution, coalesce(there.outcome, 'no outcome yet'));
  IF (there.amount, there.recipient) <> (p_amount::numeric, p_recipient) THEN
    refusal := refusal || format('. The row says %s to %s, this line %s to %s',
      there.amount, there.recipient, p_amount, p_recipient);
  END IF;
END $$;

-- OUTCOME. The execution that holds the row writes it; true where the row says so now. One that lost the row writes
-- nothing, unless the service accepted: what was paid is written whoever holds the row, and nothing replaces it.
CREATE OR REPLACE FUNCTION pay_once_end(
  p_external_id text, p_amount text, p_recipient text, p_execution text, p_outcome text, p_reason text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE pay_once SET
    amount = p_amount::numeric, recipient = p_recipient, execution = p_execution,
    outcome = p_outcome, reason = p_reason, ended_at = now()
    WHERE external_id = p_external_id AND outcome IS DISTINCT FROM 'accepted'
      AND (execution = p_execution OR p_outcome = 'accepted');
  UPDATE pay_once SET also_paid_by = p_execution
    WHERE external_id = p_external_id AND execution <> p_execution AND outcome = 'accepted' AND p_outcome = 'accepted';
  RETURN EXISTS (SELECT FROM pay_once
    WHERE external_id = p_external_id AND execution = p_execution AND outcome = p_outcome);
END $$;

-- IN DOUBT. What may have been paid, and what was paid twice. A row without an outcome is being paid now, or its
-- worker died. No execution pays one of these again; a person asks the service.
CREATE OR REPLACE VIEW pay_once_in_doubt AS
  SELECT external_id, amount, recipient, execution, coalesce(outcome, 'no outcome yet') AS outcome, reason,
    also_paid_by, claimed_at
  FROM pay_once WHERE outcome IS NULL OR outcome IN ('unknown', 'duplicate') OR also_paid_by IS NOT NULL;

-- DECISION of a person who asked the service: SELECT pay_once_decide('invoice-7', '1234', false, 'Ana asked by phone');
-- With false the row is released: a call may pay it. Stop the execution first, here 1234: if it is only frozen, it can
-- still pay. It must be named, so that nobody releases what another one has claimed in the meantime.
CREATE OR REPLACE FUNCTION pay_once_decide(p_external_id text, p_execution text, p_was_paid boolean, p_reason text)
RETURNS text LANGUAGE sql AS $$
  WITH decided AS (
    UPDATE pay_once SET
      outcome = CASE WHEN p_was_paid THEN 'accepted' ELSE 'notSent' END, reason = p_reason, ended_at = now()
    WHERE external_id = p_external_id AND execution = p_execution
      AND (outcome IS NULL OR outcome IN ('unknown', 'duplicate'))
    RETURNING 1
  ) SELECT CASE
    WHEN NOT EXISTS (SELECT FROM decided) THEN 'Nothing was changed: it is not in doubt, or another execution has claimed it'
    WHEN p_was_paid THEN 'Recorded as paid'
    ELSE format('Released. Execution %s had claimed it: if it is still running, it can still pay', p_execution) END
$$;
