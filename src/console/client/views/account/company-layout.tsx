import { nullableList } from '../../editors/nullable-list';
import { noun } from '../../nouns/layout';

export const company = noun({
  noun: 'company',
  words: { singular: 'company', plural: 'companies' },
  about: 'Settings that hold for the company as a whole.',
  title: ({ name }) => String(name),
  groups: [
    {
      title: 'Company',
      fields: [
        { field: 'name', help: '' },
        {
          field: 'country',
          label: 'Country',
          placeholder: 'US',
          help: 'Numbers without a country code are read as numbers of this country.',
        },
        {
          field: 'service_cost_per_minute',
          label: 'The service costs',
          unit: '$ a minute',
          help: 'For each begun minute of a call; shown with calls as their service cost.',
        },
      ],
    },
    {
      title: 'Whom you contact',
      help: 'Numbers at premium or shared-cost rates are refused everywhere, unless they are named here.',
      fields: [
        {
          field: 'contact_countries',
          label: 'Countries that may be called and texted',
          editor: nullableList('Only your own country', 'These countries'),
          help: 'Two letters each, such as US.',
        },
        {
          field: 'contact_prefixes',
          label: 'Also numbers that begin with',
          help: 'Country code first, without +. 1900, 979 or 882 open premium rates and satellites.',
        },
        {
          field: 'sip_hosts',
          label: 'Hosts of SIP addresses',
          help: 'Where bidders, and users who see only their own records, may send calls.',
        },
      ],
    },
    {
      title: 'Lead tokens',
      isClosed: true,
      fields: [
        {
          field: 'lead_token_powers',
          label: 'What a lead token opens by itself',
          editor: nullableList('Everything', 'Only this'),
          help: '',
        },
      ],
    },
    {
      title: 'Answers to HELP, STOP and START',
      fields: [
        {
          field: 'keyword_replies',
          label: 'These texts are answered',
          help: 'Off where the carrier answers them itself.',
        },
        {
          field: 'help_text',
          label: 'HELP',
          isWide: true,
          placeholder: 'A sentence with your name and STOP',
          help: '',
        },
        {
          field: 'opt_out_text',
          label: 'STOP',
          isWide: true,
          placeholder: 'A sentence with your name and START',
          help: '',
        },
        {
          field: 'opt_in_text',
          label: 'START',
          isWide: true,
          placeholder: 'A sentence with your name and STOP',
          help: '',
        },
      ],
    },
  ],
  columns: [],
});
