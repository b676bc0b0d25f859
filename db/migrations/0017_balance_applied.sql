ALTER TABLE "invoices" ADD COLUMN "balance_applied" numeric(15, 3);--> statement-breakpoint
-- Functions: 5c06934176c7b8c645a85eb6d6110dd853a2166a1b37ec1ace015f0bf5c37de4
