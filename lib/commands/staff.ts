import { commandActor } from '../audit/audit-log';
import { STAFF_ROLES } from '../auth/staff-user';
import { DATABASE_VARIABLES } from '../env';
import { MAX_PER_PAGE } from '../page';
import type { Runtime } from '../runtime';
import { resetTwoFactor, setStaffPassword } from '../staff/credentials';
import {
  addStaffUser,
  changeStaffRole,
  hasAdmin,
  listStaffUsers,
  removeStaffUser,
} from '../staff/manage-staff';
import { command, TEXT, type Terminal } from './command';

const ACTOR = commandActor('staff');

/** Manages the logins of staff. */
export const staff = command({
  usage: [
    'Usage: npm run -s staff -- add EMAIL [--name NAME] [--role admin]',
    '       npm run -s staff -- list',
    '       npm run -s staff -- reset-password EMAIL',
    '       npm run -s staff -- reset-two-factor EMAIL',
    '       npm run -s staff -- set-role EMAIL --role admin',
    '       npm run -s staff -- remove EMAIL',
    `Roles: ${STAFF_ROLES.join(', ')}. Only admins issue tokens and manage staff on the pages.`,
    'A password is read from stdin if piped. Otherwise one is generated and printed; its user changes it at first sign-in.',
    'reset-two-factor removes the authenticator app, recovery codes and passkeys of a user who lost them.',
  ],
  variables: [...DATABASE_VARIABLES, 'PORT', 'PUBLIC_URL'],
  options: { name: TEXT, role: TEXT },
  positionals: 2,
  read,
  takesInput: ({ verb }) => verb === 'add' || verb === 'reset-password',
  async run(wanted, runtime, terminal) {
    const { verb, email, role } = wanted;
    if (verb === 'list') await printStaff(runtime, terminal);
    else if (verb === 'remove') {
      await removeStaffUser(runtime, { email }, ACTOR);
      terminal.print(`${email} can no longer sign in.`);
    } else if (verb === 'reset-two-factor') {
      await resetTwoFactor(runtime.db, { email }, ACTOR);
      terminal.print(`${email} is signed out, and signs in with the password alone.`);
    } else if (verb === 'set-role') {
      await changeStaffRole(runtime.db, { email }, role, ACTOR);
      terminal.print(`${email} has the role ${role}.`);
    } else await writePassword(wanted, runtime, terminal);
    return 0;
  },
});

function read(values: { name?: string; role?: string }, [verb = '', email = '']: string[]) {
  const taken = OPTIONS.get(verb);
  if (!taken || (verb === 'list') !== (email === '')) return undefined;
  if (Object.keys(values).some((option) => !taken.includes(option))) return undefined;
  const wanted = values.role ?? (verb === 'set-role' ? '' : 'staff');
  const role = STAFF_ROLES.find((known) => known === wanted);
  return role && { verb, email, name: values.name, role };
}

type StaffRequest = NonNullable<ReturnType<typeof read>>;

/** The verbs, each with the options that it takes. */
const OPTIONS = new Map([
  ['add', ['name', 'role']],
  ['list', []],
  ['reset-password', []],
  ['reset-two-factor', []],
  ['set-role', ['role']],
  ['remove', []],
]);

async function writePassword(
  { verb, email, name, role }: StaffRequest,
  runtime: Runtime,
  { input, print }: Terminal,
): Promise<void> {
  const given = input?.replace(/\r?\n$/, '') || undefined;
  // A generated password is printed where others may see it, so its owner must change it. A piped password stays valid.
  const password = { password: given, passwordTemporary: given === undefined };
  const written =
    verb === 'add'
      ? await addStaffUser(runtime, { email, name, role, ...password }, ACTOR)
      : await setStaffPassword(runtime, { email }, password, ACTOR);
  print(`${written.email} can sign in at ${runtime.env.publicUrl}/sign-in`);
  if (given === undefined) print(`Password: ${written.password}`);
  if (await hasAdmin(runtime.db)) return;
  print('There is no admin yet, and only admins issue tokens and manage staff on the pages:');
  print(`npm run -s staff -- set-role ${written.email} --role admin`);
}

async function printStaff({ db, now, env }: Runtime, { print }: Terminal): Promise<void> {
  const { data: users, total } = await listStaffUsers(db, { page: 1, per_page: MAX_PER_PAGE }, now());
  if (users.length === 0) print('Nobody can sign in yet: npm run -s staff -- add EMAIL');
  for (const user of users) {
    print([user.email, user.role, user.name, user.created_at.toISOString().slice(0, 10)].join('\t'));
  }
  if (total > users.length) print(`${total - users.length} more: ${env.publicUrl}/admin/staff`);
}
