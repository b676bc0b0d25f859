-- The days on which items of subscriptions renew, and the time zone of each reconciliation run.
-- Functions: 844581457a84d25ae66f6d5150b996e45478a2c23642b24c7b6790d21c808373
CREATE TABLE "item_renewals" (
	"id" integer PRIMARY KEY NOT NULL,
	"day" date NOT NULL
);
--> statement-breakpoint
ALTER TABLE "reconciliation_runs" ADD COLUMN "time_zone" text;--> statement-breakpoint
ALTER TABLE "item_renewals" ADD CONSTRAINT "item_renewals_id_subscription_items_id_fk" FOREIGN KEY ("id") REFERENCES "public"."subscription_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "item_renewals_day" ON "item_renewals" USING btree ("day","id");
--> statement-breakpoint
-- A new database has neither items nor functions yet, so the statement inside only runs if there are items.
DO $$ BEGIN
	IF EXISTS (SELECT FROM subscription_items) THEN
		INSERT INTO item_renewals
			SELECT id, day FROM (
				SELECT i.id, item_renewal_day(i, s) AS day FROM subscription_items i JOIN subscriptions s ON s.id = i.subscription_id
			) renewal WHERE day IS NOT NULL;
	END IF;
END $$;
