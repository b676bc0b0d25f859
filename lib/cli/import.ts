import { carryOut } from './carry-out';

carryOut('import');
