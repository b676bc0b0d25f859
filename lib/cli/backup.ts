import { carryOut } from './carry-out';

carryOut('backup');
