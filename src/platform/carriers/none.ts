import type { Carrier } from './carrier';
import { createRefusingCarrier } from './refusing-carrier';

/** For an installation whose softswitch brings all calls: nothing goes out from here. */
export const noCarrier = (): Carrier =>
  createRefusingCarrier('none', {
    subject: 'This installation has no carrier (CARRIER=none)',
    about_calls: 'has no calls of its own',
  });
