import type { Question } from './question';
import { BILLING_QUESTIONS } from './questions-billing';
import { CUSTOMER_QUESTIONS } from './questions-customers';
import { SERVER_QUESTIONS } from './questions-servers';

/** Questions of a hosting company's clerks to the tools. */
export const QUESTIONS: Question[] = [...CUSTOMER_QUESTIONS, ...BILLING_QUESTIONS, ...SERVER_QUESTIONS];
