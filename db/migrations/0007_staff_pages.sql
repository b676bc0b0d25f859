DROP INDEX "customer_services_renewal";--> statement-breakpoint
CREATE INDEX "customer_services_status_billing" ON "customer_services" USING btree ("status",coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "subscriptions_status_billing" ON "subscriptions" USING btree ("status",coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "customer_services_renewal" ON "customer_services" USING btree ("next_billing_date","id") WHERE "customer_services"."status" = 'active' and "customer_services"."ends_on" is null and "customer_services"."next_billing_date" is not null;
--> statement-breakpoint
-- Functions: ea9b8959ff802912685233c9971170e3cdb97eb90fb82707386537ac2852fafe
