import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { commandActor } from '../audit/record-audit';
import { addStaffUser } from '../auth/add-staff-user';
import { changeStaffRole } from '../auth/change-staff-role';
import { hasAdmin, listStaffUsers } from '../auth/list-staff-users';
import { removeStaffUser } from '../auth/remove-staff-user';
import { setStaffPassword } from '../auth/set-staff-password';
import { STAFF_ROLES, type StaffRole } from '../auth/staff-user';
import { StartError } from '../errors';
import { MAX_PER_PAGE } from '../page';
import { type Runtime, worldOf } from '../runtime';
import { runCommand } from './run-command';
import { withDatabase } from './with-database';

const USAGE = [
  'Usage: npm run -s staff -- add EMAIL [--name NAME] [--role admin]',
  '       npm run -s staff -- list',
  '       npm run -s staff -- reset-password EMAIL',
  '       npm run -s staff -- set-role EMAIL --role admin',
  '       npm run -s staff -- remove EMAIL',
  `Roles: ${STAFF_ROLES.join(', ')}. Only admins issue tokens and manage staff on the pages.`,
  'A password is read from stdin when it is piped, else one is made and printed.',
];

const ACTOR = commandActor('staff');

runCommand(async () => {
  const { verb, email, name, role } = readArguments();
  const given = verb === 'add' || verb === 'reset-password' ? await pipedPassword() : undefined;
  await withDatabase(async ({ db }, env) => {
    const world = { db, ...worldOf(env) };
    if (verb === 'list') return printStaff(world, env.publicUrl);
    if (verb === 'remove') {
      await removeStaffUser(db, { email }, ACTOR);
      return console.log(`${email} can no longer sign in.`);
    }
    if (verb === 'set-role') {
      await changeStaffRole(db, { email }, role, ACTOR);
      return console.log(`${email} has the role ${role}.`);
    }
    const written =
      verb === 'add'
        ? await addStaffUser(world, { email, name, password: given, role }, ACTOR)
        : await setStaffPassword(world, { email }, given, ACTOR);
    console.log(`${written.email} can sign in at ${env.publicUrl}/sign-in`);
    if (given === undefined) console.log(`Password: ${written.password}`);
    if (await hasAdmin(db)) return;
    console.log('Nobody is an admin yet, and only admins issue tokens and manage staff on the pages:');
    console.log(`npm run -s staff -- set-role ${written.email} --role admin`);
  });
});

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { name: { type: 'string' }, role: { type: 'string' } },
    });
    const [verb, email = '', ...rest] = positionals;
    const known = verb === 'list' ? email === '' : isVerb(verb) && email !== '';
    const role = values.role ?? (verb === 'set-role' ? '' : 'staff');
    if (verb && known && rest.length === 0 && isRole(role)) return { verb, email, name: values.name, role };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // an unknown option
  }
  throw new StartError(USAGE);
}

function isVerb(verb: string | undefined): boolean {
  return ['add', 'reset-password', 'set-role', 'remove'].some((known) => known === verb);
}

function isRole(role: string): role is StaffRole {
  return STAFF_ROLES.some((known) => known === role);
}

async function pipedPassword(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  return (await text(process.stdin)).replace(/\r?\n$/, '') || undefined;
}

async function printStaff({ db, now }: Pick<Runtime, 'db' | 'now'>, publicUrl: string): Promise<void> {
  const { data: staff, total } = await listStaffUsers(db, { page: 1, per_page: MAX_PER_PAGE }, now());
  if (staff.length === 0) console.log('Nobody can sign in yet: npm run -s staff -- add EMAIL');
  for (const user of staff) {
    console.log([user.email, user.role, user.name, user.created_at.toISOString().slice(0, 10)].join('\t'));
  }
  if (total > staff.length) console.log(`${total - staff.length} more: ${publicUrl}/admin/staff`);
}
