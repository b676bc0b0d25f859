import { carryOut } from './carry-out';

carryOut('db:recount');
