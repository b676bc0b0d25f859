import type { Hands } from '../../hands';
import type { TwinModel } from './twin';

/** What staff and programs do to both. What goes by way of sync is compared there. */
export function twinHands(twin: TwinModel, database: Hands, model: Hands): Hands {
  const both = <T>(what: string, theirs: () => Promise<unknown>, ours: () => Promise<T>) =>
    twin.alone(() => twin.both(what, theirs, ours));
  const making = <Given, Made>(make: (given: Given) => Promise<Made>) => {
    return async (given: Given) => {
      const made = await make(given);
      await twin.load();
      return made;
    };
  };
  return {
    ...model,
    deletePayment: (id) =>
      both(
        'a deletion',
        () => database.deletePayment(id),
        () => model.deletePayment(id),
      ),
    updatePayment: (id, changes) =>
      both(
        'an update',
        () => database.updatePayment(id, changes),
        () => model.updatePayment(id, changes),
      ),
    recordPayment: (payment) =>
      both(
        'a payment',
        () => database.recordPayment(payment),
        () => model.recordPayment(payment),
      ),
    dateService: (id, dates) =>
      both(
        'a date',
        () => database.dateService(id, dates),
        () => model.dateService(id, dates),
      ),
    makeCustomer: making(database.makeCustomer),
    makeMerged: making(database.makeMerged),
    makeService: making(database.makeService),
    makeSold: making(database.makeSold),
    makeSoldItem: making(database.makeSoldItem),
    makeInvoice: making(database.makeInvoice),
    makeLink: making(database.makeLink),
  };
}
