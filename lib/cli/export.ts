import { carryOut } from './carry-out';

carryOut('export');
