'use server';

import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { headers } from 'next/headers';
import { encode } from 'uqr';
import { changeOwnPassword } from '@/lib/auth/account/change-own-password';
import { beginPasskey, keepPasskey, removePasskey as removeKey } from '@/lib/auth/second-factor/passkeys';
import { turnOffTwoFactor } from '@/lib/auth/second-factor/remove';
import { renewRecoveryCodes } from '@/lib/auth/second-factor/renew-recovery-codes';
import { beginTwoFactor, confirmTwoFactor } from '@/lib/auth/second-factor/set-up';
import { passCookies, requireSession, requireSessionFor } from '@/lib/auth/session/staff-session';
import { rememberDevice } from '@/lib/auth/sign-in/sign-in-origin';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, problemOf, toProblems } from '../_components/page/staff-action';

/** Of each wrong field its sentence; of '' what concerns no single one. */
export type Problems = Record<string, string>;

/** Gives oneself another password; `then` is where to go on to. */
export async function changePassword(then: string, _before: Problems, form: FormData): Promise<Problems> {
  const session = await requireSessionFor('password');
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { current: text('current'), password: text('password'), repeated: text('repeated') };
  const runtime = await getRuntime();
  try {
    await changeOwnPassword(runtime, session, typed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return toProblems(error, typed);
  }
  await passCookies(await rememberDevice(runtime, session.staff.email, null));
  leaveFor(then);
}

export interface BegunTwoFactor {
  picture: { size: number; path: string };
  /** The key to type instead of scanning the picture. */
  key: string;
  recoveryCodes: string[];
}

/** Makes what the authenticator app is set up with. */
export async function beginApp(password: string): Promise<{ problem: string } | BegunTwoFactor> {
  const session = await requireSessionFor('two_factor');
  try {
    const { uri, recoveryCodes } = await beginTwoFactor(
      await getRuntime(),
      session,
      password,
      await headers(),
    );
    const key = new URL(uri).searchParams.get('secret') ?? '';
    return { picture: toPicture(uri), key, recoveryCodes };
  } catch (error) {
    return refused(error);
  }
}

/** Sees whether the app works; from then on it is asked for. */
export async function confirmApp(code: string): Promise<{ problem: string | null }> {
  const session = await requireSessionFor('two_factor');
  try {
    await confirmTwoFactor(await getRuntime(), session, code);
    return { problem: null };
  } catch (error) {
    return refused(error);
  }
}

/** Makes new recovery codes and shows them, once. */
export async function renewCodes(
  password: string,
): Promise<{ problem: string } | { recoveryCodes: string[] }> {
  const session = await requireSession();
  try {
    return {
      recoveryCodes: await renewRecoveryCodes(await getRuntime(), session, password, await headers()),
    };
  } catch (error) {
    return refused(error);
  }
}

/** Signs in by password alone again. */
export async function turnOffApp(password: string): Promise<{ problem: string }> {
  const session = await requireSession();
  try {
    await turnOffTwoFactor(await getRuntime(), session, password);
  } catch (error) {
    return refused(error);
  }
  leaveFor('/admin/account?notice=app-off');
}

/** What the browser makes a passkey from. */
export async function startPasskey(
  password: string,
): Promise<{ problem: string } | { options: PublicKeyCredentialCreationOptionsJSON }> {
  const session = await requireSession();
  try {
    const { options, cookies } = await beginPasskey(await getRuntime(), session, password, await headers());
    await passCookies(cookies);
    return { options };
  } catch (error) {
    return refused(error);
  }
}

/** Keeps the passkey that the browser made. */
export async function storePasskey(
  name: string,
  response: RegistrationResponseJSON,
): Promise<{ problem: string }> {
  await requireSession();
  try {
    await keepPasskey(await getRuntime(), { name, response }, await headers());
  } catch (error) {
    return refused(error);
  }
  leaveFor('/admin/account?notice=passkey');
}

/** Signs in by a passkey no more. */
export async function removePasskey(id: string, password: string): Promise<{ problem: string }> {
  const session = await requireSession();
  try {
    await removeKey(await getRuntime(), session, password, id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') leaveFor('/admin/account?notice=not_found');
    return refused(error);
  }
  leaveFor('/admin/account?notice=passkey-removed');
}

function refused(error: unknown): { problem: string } {
  if (!(error instanceof AppError)) throw error;
  return { problem: problemOf(error) };
}

/** A QR code as one path of an SVG, and how many units it is wide. */
function toPicture(text: string): { size: number; path: string } {
  const { size, data } = encode(text, { border: 2 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: squares.join('') };
}
