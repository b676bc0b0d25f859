import type { Question } from './question';
import { BILLING_QUESTIONS } from './questions-billing';
import { CUSTOMER_QUESTIONS } from './questions-customers';
import { SERVER_QUESTIONS } from './questions-servers';

/** Questions that the clerks of a hosting company could ask the tools. */
export const QUESTIONS: Question[] = [...CUSTOMER_QUESTIONS, ...BILLING_QUESTIONS, ...SERVER_QUESTIONS];
