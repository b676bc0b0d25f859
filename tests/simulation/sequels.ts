import { STEP_WEIGHTS, type StepKind, type Swarm } from './plan';

/** What often comes next, and most often of the same thing. */
const SEQUELS: Partial<Record<StepKind, StepKind[]>> = {
  subscribe: ['moveItem', 'moveItem', 'linkItem', 'checkout', 'subscribe', 'invoice'],
  changeItems: ['moveItem', 'changeItems', 'replay'],
  setMetadata: ['linkItem', 'moveItem', 'invoice'],
  setStatus: ['setStatus', 'cancel', 'checkout'],
  strangeStatus: ['setStatus', 'cancel'],
  renew: ['finalize', 'changeItems', 'moveItem'],
  cancel: ['lateNews', 'checkout', 'replay', 'run'],
  checkout: ['invoice', 'setStatus', 'cancel', 'confirmLink'],
  moveItem: ['moveItem', 'moveItem', 'changeItems', 'renew', 'linkItem'],
  linkItem: ['moveItem', 'setMetadata', 'replay', 'confirmLink'],
  confirmLink: ['linkItem', 'changeNumber', 'replay'],
  changeNumber: ['subscribe', 'checkout', 'renew', 'setStatus', 'changeNumber'],
  invoice: ['finalize', 'finalize', 'changeNumber'],
  finalize: ['pay', 'payPart', 'fail', 'uncollectible', 'voidInvoice'],
  voidInvoice: ['run', 'replay'],
  charge: ['deletePayment', 'changePayment', 'replay', 'refund', 'dispute'],
  fail: ['pay', 'fail', 'strangeInvoice'],
  uncollectible: ['pay', 'payPart'],
  payPart: ['pay', 'payPart', 'deletePayment'],
  pay: ['deletePayment', 'deletePayment', 'changePayment', 'refund'],
  refund: ['run', 'settleRefund', 'refundHere', 'run'],
  settleRefund: ['run', 'settleRefund', 'refundHere'],
  refundHere: ['refund', 'settleRefund', 'run'],
  dispute: ['moveDispute', 'refund', 'run'],
  moveDispute: ['moveDispute', 'run'],
  credit: ['voidCredit', 'run', 'pay'],
  payOwn: ['refund', 'refundHere'],
  enterPayment: ['pay', 'deletePayment'],
  deletePayment: ['replay', 'replay', 'run', 'enterPayment'],
  run: ['run', 'replay', 'settleRefund'],
  changePayment: ['replay', 'deletePayment'],
};

/** @param draw from 0 up to below 1. @returns null: nothing of this history does */
export function sequelOf(swarm: Swarm, kind: StepKind | undefined, draw: number): StepKind | null {
  const sequels = (kind && SEQUELS[kind]) ?? [];
  const drawn = sequels.filter((one) => STEP_WEIGHTS[one] * (swarm[one] ?? 1) > 0);
  return drawn[Math.floor(draw * drawn.length)] ?? null;
}
