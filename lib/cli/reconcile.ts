import { carryOut } from './carry-out';

carryOut('reconcile');
