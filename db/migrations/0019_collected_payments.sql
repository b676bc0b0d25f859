DROP INDEX "invoices_stripe_paid";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "provider_payment_date" date;--> statement-breakpoint
CREATE INDEX "invoices_stripe_paid" ON "invoices" USING btree ("id") WHERE "invoices"."stripe_invoice_id" is not null and "invoices"."amount_paid" > 0;