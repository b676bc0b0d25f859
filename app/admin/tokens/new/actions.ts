'use server';

import { issueAccessToken, type TypedToken } from '@/lib/auth/tokens/issue-access-token';
import { refreshPages, staffFormAction } from '../../_components/page/staff-action';

export interface IssueState {
  /** The fields as they were typed. */
  typed: TypedToken;
  /** Of each wrong field its sentence. */
  problems: Record<string, string>;
  /** The token's text, for this one answer. */
  issued: { name: string; token: string } | null;
}

/** Issues a token and shows it, once. */
export const issue = staffFormAction({
  role: 'admin',
  input: [],
  form: {
    name: 'text',
    scopes: 'texts',
    hides_personal_data: 'flag',
    expires: 'text',
    last_day: 'text',
    staff_email: 'text',
  },
  run: ({ runtime, actor }, typed) => issueAccessToken(runtime, actor, typed),
  done: ({ name, token }, typed): IssueState => {
    refreshPages();
    return { typed, problems: {}, issued: { name, token } };
  },
  refused: ({ problems }, typed): IssueState => ({ typed, problems, issued: null }),
});
