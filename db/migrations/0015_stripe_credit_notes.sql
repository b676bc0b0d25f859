-- Credit notes that Stripe issued. Only our own numbers must be unique.
-- Functions: 806242962d8a87ff051a5f43808e14f007e9b12949696f44e9d715b0c7293b44
ALTER TABLE "credit_notes" DROP CONSTRAINT "credit_notes_number_unique";--> statement-breakpoint
ALTER TABLE "credit_notes" ADD COLUMN "stripe_credit_note_id" text;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD COLUMN "voided_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD COLUMN "stripe_lines" jsonb;--> statement-breakpoint
-- Few invoices are credited, so the lock is short.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX "credit_notes_own_number" ON "credit_notes" USING btree ("number") WHERE "credit_notes"."stripe_credit_note_id" is null;--> statement-breakpoint
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX "credit_notes_stripe" ON "credit_notes" USING btree ("stripe_credit_note_id");
