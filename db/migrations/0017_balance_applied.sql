ALTER TABLE "invoices" ADD COLUMN "balance_applied" numeric(15, 3);--> statement-breakpoint
-- Functions: fd4a181a0facca4c463f1376afc0176836154fcb596eb0ae73063851547ab413
