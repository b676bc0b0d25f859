-- Renewals were added up by other rules: the functions of this version add them up anew.
DELETE FROM "sums" WHERE "of" LIKE '%\_renewals';--> statement-breakpoint
DELETE FROM "sum_deltas" WHERE "of" LIKE '%\_renewals';
-- Functions: bc8259e31d727bed0749887f2e70ead6c30d058e26f3e305490a8f5e447948bc
