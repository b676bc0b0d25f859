ALTER TABLE "invoices" ADD COLUMN "balance_applied" numeric(15, 3);--> statement-breakpoint
-- Functions: f4ce26ec22c2e0a8bc3b8825ae1d8e6505491aee05f4cbd75ee092623f004631
