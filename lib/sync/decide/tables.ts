import type { KeyOf, StoredRows, TableName } from '../store/rows';
import type { Rows } from '../store/snapshot';
import { Table } from './table';

export type Tables = { readonly [Name in TableName]: Table<KeyOf<Name>, StoredRows[Name]> };

export class AllTables implements Tables {
  readonly links: Tables['links'];
  readonly customers: Tables['customers'];
  readonly services: Tables['services'];
  readonly subscriptions: Tables['subscriptions'];
  readonly items: Tables['items'];
  readonly invoices: Tables['invoices'];
  readonly payments: Tables['payments'];
  readonly refunds: Tables['refunds'];
  readonly disputes: Tables['disputes'];

  constructor(rows: Rows) {
    this.links = new Table(rows.links, (row) => row.stripe_customer_id);
    this.customers = new Table(rows.customers, idOf);
    this.services = new Table(rows.services, idOf);
    this.subscriptions = new Table(rows.subscriptions, idOf);
    this.items = new Table(rows.items, idOf);
    this.invoices = new Table(rows.invoices, idOf);
    this.payments = new Table(rows.payments, idOf);
    this.refunds = new Table(rows.refunds, idOf);
    this.disputes = new Table(rows.disputes, idOf);
  }
}

const idOf = ({ id }: { id: number }) => id;
