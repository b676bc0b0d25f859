import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { id, timestamps, version } from './columns';
import { serverStatus } from './enums';

export const servers = pgTable('servers', {
  id: id(),
  hostname: text().notNull().unique(),
  ipv4: text().array().notNull().default([]),
  ipv6: text().array().notNull().default([]),
  stack: text(),
  operating_system: text(),
  cpu: text(),
  cpu_cores: integer(),
  ram_gb: integer(),
  storage: text(),
  control_panel: text(),
  location: text(),
  status: serverStatus().notNull().default('active'),
  version: version(),
  ...timestamps,
});
