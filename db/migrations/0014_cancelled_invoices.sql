-- A cancelled invoice owes nothing.
UPDATE "invoices" SET "amount_due" = 0 WHERE "status" = 'cancelled' AND "amount_due" <> 0;
