-- Hosts of SIP addresses to which bidders and limited users may send calls of the company.
ALTER TABLE companies ADD COLUMN sip_hosts text[] DEFAULT ARRAY[]::text[];
