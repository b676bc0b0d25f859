DROP INDEX "customers_serial";--> statement-breakpoint
CREATE INDEX "customers_serial" ON "customers" USING btree ((substring("customer_number" from '^[Kk](\d{1,15})$')::bigint));