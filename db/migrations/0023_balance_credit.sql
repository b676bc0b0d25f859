-- Stores the part of a Stripe credit note that became credit on the customer's balance at Stripe, and counts money that
-- Stripe gave back.
-- Functions: 46894cd3d3862b18cef304cf8d426be3e8945b2ea96e2ec58ed9deb1301bd754
ALTER TABLE "credit_notes" ADD COLUMN "to_balance" numeric(15, 3);--> statement-breakpoint
-- It takes less than a second for a million transfers, of which few have credit.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "transfers_credit" ON "transfers" USING btree ("payment_date") WHERE "transfers"."credit" > 0;
