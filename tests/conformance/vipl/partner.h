#ifndef CONFORMANCE_VIPL_PARTNER_H
#define CONFORMANCE_VIPL_PARTNER_H

/* Does what is ordered at the other end of this socket, until ORDER_QUIT or its end. */
void partner_serve(int file);

#endif
