CREATE TABLE "webhook_refusals" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"count" integer NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "webhook_refusals_one_row" CHECK ("webhook_refusals"."id" = 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "customers_number_lower" ON "customers" USING btree (lower("customer_number"));
--> statement-breakpoint
-- References are compared in this form from now on; of several that become alike the first takes it.
WITH "normal" AS (
	SELECT "id", normalize(regexp_replace("payment_reference", '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]', '', 'g'), NFC) AS "reference"
	FROM "payments" WHERE "payment_reference" ~ '[^ -~]'
)
UPDATE "payments" SET "payment_reference" = "normal"."reference" FROM "normal"
WHERE "payments"."id" = "normal"."id" AND "normal"."reference" <> ''
	AND NOT EXISTS (SELECT FROM "payments" "other" WHERE "other"."payment_reference" = "normal"."reference")
	AND NOT EXISTS (SELECT FROM "normal" "first" WHERE "first"."reference" = "normal"."reference" AND "first"."id" < "normal"."id");
