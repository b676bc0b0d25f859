-- Renewals were added up by other rules: the functions of this version add them up anew.
DELETE FROM "sums" WHERE "of" LIKE '%\_renewals';--> statement-breakpoint
DELETE FROM "sum_deltas" WHERE "of" LIKE '%\_renewals';
-- Functions: 15f000076e803ce2230a3708f905d95775e8f85cfd05d443a4f9e360f97a7f82
