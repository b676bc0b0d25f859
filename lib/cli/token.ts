import { carryOut } from './carry-out';

carryOut('token');
