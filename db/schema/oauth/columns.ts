import { boolean, text } from 'drizzle-orm/pg-core';

// As in staff.ts the property names are better-auth's own. It reads and writes every column that its
// provider knows, also those of features that are off here.
export const id = () => text().primaryKey();
export const texts = (name: string) => text(name).array();
export const flag = (name: string) => boolean(name).default(false);
