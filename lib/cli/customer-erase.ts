import { carryOut } from './carry-out';

carryOut('customer:erase');
