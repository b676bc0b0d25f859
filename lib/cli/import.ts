import { isFromStripe } from '../commands/import-arguments';
import { carryOut } from './carry-out';

carryOut((args) => (isFromStripe(args) ? 'import stripe' : 'import'));
