-- The payment or transfer that a bank entry returned, and the IBANs of further own accounts.
-- Functions: 05d1ba73702fa849754e91ecbc5c08f8fea6db322368f59fa3edd5e92c86530c
ALTER TABLE "company" ADD COLUMN "other_ibans" text;--> statement-breakpoint
ALTER TABLE "bank_entries" ADD COLUMN "returned_transfer_id" integer;--> statement-breakpoint
ALTER TABLE "bank_entries" ADD COLUMN "returned_payment_id" integer;--> statement-breakpoint
-- Migrations run in one transaction. No bank entry names a returned payment yet, so that all four take milliseconds.
-- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
ALTER TABLE "bank_entries" ADD CONSTRAINT "bank_entries_returned_transfer_id_transfers_id_fk" FOREIGN KEY ("returned_transfer_id") REFERENCES "public"."transfers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
-- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
ALTER TABLE "bank_entries" ADD CONSTRAINT "bank_entries_returned_payment_id_payments_id_fk" FOREIGN KEY ("returned_payment_id") REFERENCES "public"."payments"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX "bank_entries_returned_transfer" ON "bank_entries" USING btree ("returned_transfer_id") WHERE "bank_entries"."returned_transfer_id" is not null;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX "bank_entries_returned_payment" ON "bank_entries" USING btree ("returned_payment_id") WHERE "bank_entries"."returned_payment_id" is not null;