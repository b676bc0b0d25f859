CREATE TABLE "staff_sign_in_failures" (
	"account" text NOT NULL,
	"origin" text NOT NULL,
	"failures" integer NOT NULL,
	"wait_until" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "staff_sign_in_failures_account_origin_pk" PRIMARY KEY("account","origin")
);
--> statement-breakpoint
CREATE INDEX "staff_sign_in_failures_end" ON "staff_sign_in_failures" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "staff_rate_limits_last" ON "staff_rate_limits" USING btree ("last_request");--> statement-breakpoint
CREATE INDEX "staff_sessions_end" ON "staff_sessions" USING btree ("expires_at");