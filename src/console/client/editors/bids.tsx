import type { EditorProps } from '../nouns/layout';
import { ObjectEditor, type Parts } from '../form/field';

const REQUEST: Parts = {
  url: { label: 'Address', placeholder: 'https://bids.example/ping?zip=[zip]', isWide: true },
  method: { label: 'Method' },
  headers: { label: 'Headers' },
  body: {
    label: 'Body',
    help: 'Tokens such as [caller_number] or {{zip}} stand for what is known of the call. Empty: JSON with the caller, the offer and the buyer.',
  },
};

const RESPONSE: Parts = {
  accept: { label: 'Wants the call', placeholder: '$.accept' },
  bid: { label: 'Bid in dollars', placeholder: '$.bid' },
  number: { label: 'Where the call goes', placeholder: '$.number' },
  duration: { label: 'Paid after seconds', placeholder: '$.duration' },
  expires_in: { label: 'Stands for seconds', placeholder: '$.expires_in' },
};

/** How a bidder is asked. */
export const BidRequest = (props: EditorProps) => <ObjectEditor {...props} parts={REQUEST} />;

/** Where its answer has each fact. */
export const BidResponse = (props: EditorProps) => <ObjectEditor {...props} parts={RESPONSE} />;
