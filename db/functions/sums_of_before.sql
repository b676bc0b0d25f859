-- Of the rows that were there before there were sums.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM sums) THEN PERFORM rebuild_sums(); END IF;
END $$;
