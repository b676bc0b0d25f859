-- Stores the part of a Stripe credit note that became credit on the customer's balance at Stripe, and counts money that
-- Stripe gave back.
-- Functions: a3a3950cf1ff7f0b39080af105f1bf17bc5f2dbdffeabaa7d43fb093460f43d2
ALTER TABLE "credit_notes" ADD COLUMN "to_balance" numeric(15, 3);--> statement-breakpoint
-- It takes less than a second for a million transfers, of which few have credit.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "transfers_credit" ON "transfers" USING btree ("payment_date") WHERE "transfers"."credit" > 0;
