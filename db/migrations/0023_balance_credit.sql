-- Stores the part of a Stripe credit note that became credit on the customer's balance at Stripe, and finds transfers
-- with credit.
-- Functions: a9ec1358e4d10773d4a308828980d45e11864bfd559bb7c8aaccf0c907cdc2af
ALTER TABLE "credit_notes" ADD COLUMN "to_balance" numeric(15, 3);--> statement-breakpoint
-- It takes less than a second for a million transfers, of which few have credit.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "transfers_credit" ON "transfers" USING btree ("payment_date") WHERE "transfers"."credit" > 0;
