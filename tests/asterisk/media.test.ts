import { mediaScenarios } from '../sip/support/adapter-media';
import { testScenarios } from './support/asterisk-world';

describe('the adapter connects to Asterisk', () => {
  testScenarios(mediaScenarios, { side_by_side: true });
});

describe('Asterisk connects to the adapter', () => {
  testScenarios(mediaScenarios, { side_by_side: true, outbound_socket: true });
});
