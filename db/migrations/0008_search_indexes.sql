DROP INDEX "invoices_number";--> statement-breakpoint
CREATE INDEX "audit_log_payment_customer" ON "audit_log" USING btree ((coalesce("after", "before") ->> 'customer_id'),"id") WHERE "audit_log"."entity" = 'payment' and "audit_log"."action" <> 'payment.create';--> statement-breakpoint
CREATE INDEX "customers_name" ON "customers" USING btree (lower(left(coalesce(nullif("company", ''), btrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))), 100)),"id");--> statement-breakpoint
CREATE INDEX "customers_country" ON "customers" USING btree ("country","id");--> statement-breakpoint
CREATE INDEX "customers_not_active" ON "customers" USING btree ("status","id") WHERE "customers"."status" <> 'active';--> statement-breakpoint
CREATE INDEX "payments_stripe_intent" ON "payments" USING btree ("stripe_payment_intent_id") WHERE "payments"."stripe_payment_intent_id" is not null;--> statement-breakpoint
CREATE INDEX "customer_services_number_prefix" ON "customer_services" USING btree ("service_number" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "invoices_number" ON "invoices" USING btree ("number" text_pattern_ops);