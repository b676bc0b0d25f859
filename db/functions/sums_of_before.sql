-- Of the rows that were there before there were sums of them.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM sums) THEN
    PERFORM rebuild_sums();
  ELSIF NOT EXISTS (
    SELECT FROM (SELECT of FROM sums UNION ALL SELECT of FROM sum_deltas) kept WHERE of LIKE '%\_renewals'
  ) THEN
    INSERT INTO sums SELECT * FROM renewal_sums(NULL);
  END IF;
END $$;
