import { carryOut } from './carry-out';

carryOut('staff');
