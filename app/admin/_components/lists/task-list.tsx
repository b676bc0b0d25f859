import { Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconChevronRight } from '@tabler/icons-react';
import Link from 'next/link';
import type { Task } from '@/lib/overview/list-tasks';
import classes from './list.module.css';

/** Something to look at, and where. */
export interface LinkedTask {
  text: string;
  href: string;
}

/** What needs attention, each entry leading to where it is done. */
export function TaskList({ tasks }: { tasks: LinkedTask[] }) {
  return tasks.map(({ text, href }) => (
    <Link key={text} href={href} className={classes.entry}>
      <Group gap="sm" wrap="nowrap">
        <Text c="orange" span display="flex">
          <IconAlertTriangle size={18} stroke={1.8} aria-hidden />
        </Text>
        <Text size="sm" fw={500} flex={1}>
          {text}
        </Text>
        <IconChevronRight size={16} stroke={1.6} aria-hidden />
      </Group>
    </Link>
  ));
}

const PLACES: Record<Task['code'], string> = {
  reconciliation_overdue: '/admin/reconciliation',
  reconciliation_silent: '/admin/reconciliation',
  reconciliation_failed: '/admin/reconciliation',
  reconciliation_drift: '/admin/reconciliation',
  inbox_failures: '/admin/webhooks?outcome=failed',
  inbox_other_mode: '/admin/webhooks?outcome=other_mode',
  inbox_thin: '/admin/webhooks?outcome=thin',
  webhook_refuses: '/admin/webhooks',
  time_zone_differs: '/admin/reconciliation',
  registrations_refused: '/admin/connect',
  counts_wrong: '/admin',
  disk_full: '/admin',
  disk_low: '/admin',
  staff_tasks: '/admin/tasks',
  money_back_unmatched: '/admin/payments/refunds#unmatched',
  money_back_excess: '/admin/payments/refunds#excess',
  money_back_currency: '/admin/payments/refunds#other_currency',
  events_unmatched: '/admin/webhooks?outcome=unmatched',
  items_unlinked: '/admin/subscriptions?items=unlinked',
  checkouts_waiting: '/admin/subscriptions?checkout=waiting',
  links_proposed: '/admin/subscriptions/stripe-customers/proposals',
  customers_created: '/admin/subscriptions/stripe-customers',
};

/** A task of the sync with its place. */
export function toLinkedTask({ code, message, run_id }: Task): LinkedTask {
  return { text: message, href: run_id === undefined ? PLACES[code] : `${PLACES[code]}/${run_id}` };
}
