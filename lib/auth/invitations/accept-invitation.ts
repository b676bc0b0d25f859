import { AppError, invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import { writeOwn } from '../account/write-own';
import { choosePassword } from '../staff/staff-user';
import { storePassword } from '../staff/store-password';
import { endInvitations, findInvited } from './invitation';

type World = Pick<Runtime, 'db' | 'now' | 'newId' | 'randomBytes'>;

/**
 * Stores the password that the invited person chooses, and uses up the invitation.
 *
 * @returns their address, to sign in with
 * @throws AppError validation_failed naming the field; conflict if the invitation is no longer valid
 */
export async function acceptInvitation(
  world: World,
  token: string,
  { password, repeated }: { password: string; repeated: string },
): Promise<string> {
  // Check before hashing, so that guesses cost nothing, and again under the lock.
  const invited = await findInvited(world.db, token, world.now());
  if (!invited) throw invalidInvitation();
  if (password !== repeated) throw invalidField('repeated', 'must be the same password');
  const { hash } = await choosePassword(world, password);
  await writeOwn(world.db, invited, 'accept_invitation', async (tx, { id }) => {
    if (!(await findInvited(tx, token, world.now()))) throw invalidInvitation();
    await endInvitations(tx, id);
    await storePassword(tx, id, hash, world.newId());
    return {};
  });
  return invited.email;
}

function invalidInvitation(): AppError {
  return new AppError('conflict', 'This invitation is no longer valid. Ask an admin for a new one.');
}
