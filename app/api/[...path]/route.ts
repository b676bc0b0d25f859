import { answerUnknownPath } from '@/lib/http/unknown-path';

// Programs asked for something that is not there: they get JSON, not a page.
export {
  answerUnknownPath as DELETE,
  answerUnknownPath as GET,
  answerUnknownPath as HEAD,
  answerUnknownPath as OPTIONS,
  answerUnknownPath as PATCH,
  answerUnknownPath as POST,
  answerUnknownPath as PUT,
};
