CREATE OR REPLACE FUNCTION raise_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;
--> statement-breakpoint
-- The triggers skip updates that raise the version themselves. commit_plan does so in all updates except that of credit
-- notes, because the tables of a dry run have no triggers.
DO $$ BEGIN
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON customers FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON stripe_customers FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON customer_services FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON subscriptions FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON subscription_items FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON invoices FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON payments FOR EACH ROW
    -- The foreign key updates `transfer` when commit_plan gives a transfer another reference. The version must not
    -- change then, because commit_plan compares it afterwards.
    WHEN (NEW.version = OLD.version AND NEW.transfer IS NOT DISTINCT FROM OLD.transfer) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON transfers FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON refunds FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON disputes FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON servers FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON sales_documents FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
  CREATE OR REPLACE TRIGGER raise_version BEFORE UPDATE ON credit_notes FOR EACH ROW
    WHEN (NEW.version = OLD.version) EXECUTE FUNCTION raise_version();
END $$;
