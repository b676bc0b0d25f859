'use server';

import type { RegistrationResponseJSON } from '@simplewebauthn/browser';
import { headers } from 'next/headers';
import { encode } from 'uqr';
import { z } from 'zod';
import { rememberDevice } from '@/lib/auth/sign-in';
import { passCookies } from '@/lib/auth/staff-session';
import {
  beginPasskey,
  beginTwoFactor,
  changeOwnPassword,
  confirmTwoFactor,
  keepPasskey,
  removePasskey as removeKey,
  renewRecoveryCodes,
  turnOffTwoFactor,
} from '@/lib/staff/credentials';
import type { FormState } from '../_components/forms/form';
import { staffAction, staffFormAction } from '../_components/page/staff-action';

const password = z.string();
const refused = ({ problem }: { problem: string }) => ({ problem });

/** Changes the signed-in person's own password, then redirects to the path `then`. */
export const changePassword = staffFormAction({
  role: 'password',
  input: [z.string()],
  form: ['current', 'password', 'repeated'],
  run: async ({ runtime, staff, ...session }, _then, typed) => {
    await changeOwnPassword(runtime, { ...session, staff }, typed);
    await passCookies(await rememberDevice(runtime, staff.email, null));
  },
  done: (_changed, then) => then,
  refused: ({ problems }): FormState => ({ typed: {}, problems }),
});

export interface BegunTwoFactor {
  picture: { size: number; path: string };
  /** Key to type into the app instead of scanning the QR code. */
  key: string;
  recoveryCodes: string[];
}

/** Starts the setup of an authenticator app: creates the QR code, the key and the recovery codes. */
export const beginApp = staffAction({
  role: 'two_factor',
  input: [password],
  run: async ({ runtime, ...session }, typed) => beginTwoFactor(runtime, session, typed, await headers()),
  done: ({ uri, recoveryCodes }): BegunTwoFactor => ({
    picture: toPicture(uri),
    key: new URL(uri).searchParams.get('secret') ?? '',
    recoveryCodes,
  }),
  refused,
});

/** Draws a QR code as one SVG path. `size` is the width of the QR code in SVG units. */
function toPicture(text: string): BegunTwoFactor['picture'] {
  const { size, data } = encode(text, { border: 2 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: squares.join('') };
}

/** Verifies a code of the authenticator app. From then on, every sign-in with the password requires a code. */
export const confirmApp = staffAction({
  role: 'two_factor',
  input: [z.string()],
  run: ({ runtime, ...session }, code) => confirmTwoFactor(runtime, session, code),
  done: (): { problem: string | null } => ({ problem: null }),
  refused,
});

/** Creates new recovery codes, which replace the old ones, and returns them to be shown once. */
export const renewCodes = staffAction({
  role: 'staff',
  input: [password],
  run: async ({ runtime, ...session }, typed) => renewRecoveryCodes(runtime, session, typed, await headers()),
  done: (recoveryCodes) => ({ recoveryCodes }),
  refused,
});

/** Turns off the person's authenticator app, so that the password alone is enough to sign in. */
export const turnOffApp = staffAction({
  role: 'staff',
  input: [password],
  run: ({ runtime, ...session }, typed) => turnOffTwoFactor(runtime, session, typed),
  done: () => '/admin/account?notice=app-off',
  refused,
});

/** Checks the passkey's name and the password, and returns the options from which the browser creates a passkey. */
export const startPasskey = staffAction({
  role: 'staff',
  input: [z.string(), password],
  run: async ({ runtime, ...session }, name, typed) => {
    const given = { name, password: typed };
    const { options, cookies } = await beginPasskey(runtime, session, given, await headers());
    await passCookies(cookies);
    return options;
  },
  done: (options) => ({ options }),
  refused,
});

/** Verifies the browser's response to the challenge, and stores the new passkey. */
export const storePasskey = staffAction({
  role: 'staff',
  input: [
    z.string(),
    z.custom<RegistrationResponseJSON>((sent) => typeof sent === 'object' && sent !== null),
  ],
  run: async ({ runtime, ...session }, name, response) =>
    keepPasskey(runtime, session, { name, response }, await headers()),
  done: () => '/admin/account?notice=passkey',
  refused,
});

/** Removes a passkey, so that it can no longer be used to sign in. */
export const removePasskey = staffAction({
  role: 'staff',
  input: [z.string(), password],
  run: ({ runtime, ...session }, id, typed) => removeKey(runtime, session, typed, id),
  done: () => '/admin/account?notice=passkey-removed',
  refused: ({ code, problem }) => (code === 'not_found' ? '/admin/account?notice=not_found' : { problem }),
});
