import { resolve } from 'node:path';
import { commandActor } from '../../audit/audit-log';
import { readLinks } from '../../imports/read-links';
import { linkByEmail } from '../../sync/staff/link-by-email';
import { linkByNumber } from '../../sync/staff/link-by-number';
import { countUnconfirmedLinks } from '../../sync/staff/unconfirmed-links';
import type { SyncDeps } from '../../sync/sync-deps';
import type { Terminal } from '../command';
import { ProgressBar } from '../progress-bar';

type Done = 'all' | 'in part' | 'stopped';

const ACTOR = commandActor('import');

/** Links whom the e-mail address says clearly. */
export async function confirmByEmail(deps: SyncDeps, terminal: Terminal): Promise<Done> {
  const { print, progress, signal } = terminal;
  const counts = { linked: 0, refused: 0 };
  const { clear } = await countUnconfirmedLinks(deps.db);
  const bar = new ProgressBar(progress);
  await linkByEmail(deps, ACTOR, signal, (results) => {
    bar.end();
    for (const { stripeCustomerId, refusal } of results) {
      counts[refusal === null ? 'linked' : 'refused'] += 1;
      if (refusal !== null) print(`${stripeCustomerId}: ${refusal}`);
    }
    bar.show(counts.linked + counts.refused, clear, 'links by e-mail address', '');
  });
  bar.end();
  print(`By e-mail address: ${counts.linked} linked, ${counts.refused} refused.`);
  return signal.aborted ? 'stopped' : counts.refused > 0 ? 'in part' : 'all';
}

/** Links as the rows of a file say; one that is refused keeps no other out. */
export async function linkFile(deps: SyncDeps, file: string, terminal: Terminal): Promise<Done> {
  const { print, signal, cwd } = terminal;
  const counts = { linked: 0, already: 0, empty: 0, refused: 0 };
  const refuse = (line: number, problem: string) => {
    counts.refused += 1;
    print(`line ${line}: ${problem}`);
  };
  for await (const rows of readLinks(resolve(cwd, file))) {
    if (signal.aborted) break;
    const links = rows.flatMap((row) => {
      if ('problem' in row) refuse(row.line, row.problem);
      else if (row.customer_number === '') counts.empty += 1;
      else return row;
      return [];
    });
    for (const result of await linkByNumber(deps, ACTOR, links)) {
      if (result.outcome === 'refused') refuse(result.link.line, result.refusal);
      else counts[result.outcome] += 1;
    }
  }
  const { linked, already, empty, refused } = counts;
  print(
    `${file}: ${linked} linked, ${already} linked before, ${empty} without a customer_number, ${refused} refused.`,
  );
  return signal.aborted ? 'stopped' : refused > 0 ? 'in part' : 'all';
}
