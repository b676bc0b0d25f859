-- Stores the part of a Stripe credit note that became credit on the customer's balance at Stripe, and counts money that
-- Stripe gave back.
-- Functions: 9ad3789db7d3fe0afb041d384f1dcb86aa4af34cb1918049e521a5ca0f9ee7e9
ALTER TABLE "credit_notes" ADD COLUMN "to_balance" numeric(15, 3);--> statement-breakpoint
-- It takes less than a second for a million transfers, of which few have credit.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "transfers_credit" ON "transfers" USING btree ("payment_date") WHERE "transfers"."credit" > 0;
