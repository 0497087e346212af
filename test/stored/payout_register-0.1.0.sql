-- The table as the examples of 0.1.0 made it. It is never rewritten.
/* Once the table exists, this creates nothing, locks nothing and does not wait. A role that may only read and write is enough. */
DO $do$ BEGIN
  IF to_regclass('payout_register') IS NULL THEN
    /* One after the other: two that create a table at once fail. */
    PERFORM pg_advisory_xact_lock(hashtext('payout_register'));
    CREATE TABLE IF NOT EXISTS payout_register (
      external_id text PRIMARY KEY CHECK (external_id <> ''),
      amount text NOT NULL,
      /* 10.5 and 10.50 are one value; text that is not a number stays as it is. */
      value text NOT NULL GENERATED ALWAYS AS (coalesce(trim_scale(substring(amount from '^[0-9]{1,20}(?:[.][0-9]{1,20})?$')::numeric)::text, amount)) STORED,
      recipient text NOT NULL,
      key_type text NOT NULL DEFAULT '',
      description text NOT NULL DEFAULT '',
      workflow_id text NOT NULL,
      state text NOT NULL DEFAULT 'due' CHECK (state IN
        ('due', 'claimed', 'accepted', 'rejected', 'notSent', 'unknown', 'settled', 'closed', 'refused')),
      attempts integer NOT NULL DEFAULT 0,
      execution_id text,
      reason text,
      ending text CHECK (ending IN ('paid', 'failed')),
      reported text,
      not_understood text,
      contradicted text,
      differs text,
      found text,
      told text[] NOT NULL DEFAULT '{}',
      due_at timestamptz NOT NULL DEFAULT now(),
      released_at timestamptz,
      claimed_at timestamptz,
      decided_at timestamptz,
      settled_at timestamptz
    );
    CREATE INDEX IF NOT EXISTS payout_register_due ON payout_register (due_at) WHERE state = 'due';
  END IF;
END $do$;
